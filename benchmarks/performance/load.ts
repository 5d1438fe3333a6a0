import { Connection, encode, type HttpRequest, type HttpResponse } from './connection.ts';

/** The result of a load. */
export interface Load {
  /** In the order of the requests. */
  responses: HttpResponse[];
  /** In milliseconds, in the order of the requests. */
  latencies: Float64Array;
  /** From the first request to the last response. */
  seconds: number;
}

/**
 * Sends requests. Each connection sends its next one when it has its response. Requests are encoded
 * before the clock starts, and responses are parsed after it has stopped.
 */
export async function load(
  url: URL,
  connections: readonly Connection[],
  requests: readonly HttpRequest[],
): Promise<Load> {
  const encoded = requests.map((request) => encode(url, request));
  const responses = new Array<HttpResponse>(requests.length);
  const latencies = new Float64Array(requests.length);
  let next = 0;

  async function work(connection: Connection): Promise<void> {
    while (next < encoded.length) {
      const index = next++;
      const sent = performance.now();
      responses[index] = await connection.send(encoded[index] as Buffer);
      latencies[index] = performance.now() - sent;
    }
  }

  const started = performance.now();
  await Promise.all(connections.map(work));
  const seconds = (performance.now() - started) / 1000;
  return { responses, latencies, seconds };
}

/** Opens connections to a server, runs something with them, and closes them. */
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
