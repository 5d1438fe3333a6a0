import type { AtOnce } from './at-once.ts';
import { Connection, encode, type HttpAnswer, type HttpRequest } from './connection.ts';

/** What a load was answered, and how fast. */
export interface Load {
  /** In the order of the requests; fewer than those where another load made it end. */
  answers: HttpAnswer[];
  /** In milliseconds, in the order of the requests. */
  latencies: Float64Array;
  /** From the first request to the last answer. */
  seconds: number;
}

/**
 * Sends requests, each connection its next one as soon as it has its answer. They are encoded
 * before, and the answers are to be looked at after, so that the time between belongs to the server.
 *
 * @param atOnce - the loads that this one runs beside
 */
export async function load(
  url: URL,
  connections: readonly Connection[],
  requests: readonly HttpRequest[],
  atOnce?: AtOnce,
): Promise<Load> {
  const encoded = requests.map((request) => encode(url, request));
  const answers = new Array<HttpAnswer>(requests.length);
  const latencies = new Float64Array(requests.length);
  const stage = (await atOnce?.begin()) ?? { isOver: false };
  let next = 0;

  async function work(connection: Connection): Promise<void> {
    while (!stage.isOver && next < encoded.length) {
      const index = next++;
      const sent = performance.now();
      answers[index] = await connection.send(encoded[index] as Buffer);
      latencies[index] = performance.now() - sent;
    }
    stage.isOver = true;
  }

  const started = performance.now();
  await Promise.all(connections.map(work));
  const seconds = (performance.now() - started) / 1000;
  return { answers: answers.slice(0, next), latencies: latencies.subarray(0, next), seconds };
}

/** Runs something with connections to a server, which are there before it starts. */
export async function withConnections<T>(
  url: URL,
  count: number,
  run: (connections: Connection[]) => Promise<T>,
): Promise<T> {
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(url)));
  try {
    return await run(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}
