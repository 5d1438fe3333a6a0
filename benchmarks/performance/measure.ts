import type { Connection } from './connection.ts';
import {
  type Endpoint,
  type Grant,
  type MeasuredServer,
  type RunningServer,
  unexpectedResponse,
} from './contender.ts';
import { load, withConnections } from './load.ts';
import { logProgress } from './progress.ts';
import { quantile, type Sample } from './results.ts';

/**
 * In the order in which a grant goes through them. The server stores the first use of a grant, so
 * it is measured apart from the later ones.
 */
export const operations = ['convert', 'first use', 'authenticate', 'revoke'] as const;
export type Operation = (typeof operations)[number];

/** The number of connections for which there are targets. */
export const CONNECTIONS = 32;

/** A round, in which each contender is measured once. */
export interface Round<T> {
  order: T[];
  /** The first round is for the JIT compilers, and is not counted. */
  isWarmUp: boolean;
}

/**
 * A warm-up and this many rounds. Each round begins with another contender, so that none always
 * follows the slowest.
 */
export function* rounds<T>(contenders: readonly T[], count: number): Generator<Round<T>> {
  for (let round = 0; round <= count; round++) {
    logProgress(round === 0 ? 'Warming up …' : `Round ${round} of ${count} …`);
    yield {
      order: contenders.map((_, index) => contenders[(index + round) % contenders.length] as T),
      isWarmUp: round === 0,
    };
  }
}

export interface Measured<Output> {
  sample: Sample;
  outputs: Output[];
  /** In milliseconds, in ascending order. */
  latencies: Float64Array;
}

/** Sends one request per input, and checks every response. */
export async function measure<Input, Output>(
  { process, url }: Pick<MeasuredServer, 'process' | 'url'>,
  connections: readonly Connection[],
  endpoint: Endpoint<Input, Output>,
  inputs: readonly Input[],
): Promise<Measured<Output>> {
  const requests = inputs.map((input) => endpoint.request(input));
  const before = await process.cpuSeconds();
  const { responses, latencies, seconds } = await load(url, connections, requests);
  const cpu = (await process.cpuSeconds()) - before;
  const outputs = responses.map((response, index) =>
    endpoint.result(response, inputs[index] as Input),
  );
  latencies.sort();
  const sample = {
    throughput: responses.length / seconds,
    cpu: (cpu / responses.length) * 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
  return { sample, outputs, latencies };
}

/** Sends a request with a redeemed code or a revoked grant, which the server has to refuse. */
export async function expectRefusal<Input>(
  url: URL,
  connections: readonly Connection[],
  endpoint: Endpoint<Input, unknown>,
  input: Input,
): Promise<void> {
  const { responses } = await load(url, connections, [endpoint.request(input)]);
  const [response] = responses;
  if (response && response.status >= 400 && response.status < 500) return;
  throw new Error('A redeemed code or a revoked grant was accepted.', {
    cause: response && unexpectedResponse('The server', response),
  });
}

/** Converts codes, each once. */
export async function convertAll(
  server: Omit<MeasuredServer, 'issue'>,
  connections: readonly Connection[],
  codes: readonly string[],
): Promise<Measured<Grant>> {
  const converted = await measure(server, connections, server.wire.convert, codes);
  if (new Set(converted.outputs.map(({ secret }) => secret)).size !== converted.outputs.length) {
    throw new Error('Two codes were converted to the same secret.');
  }
  return converted;
}

/** Measures each operation, with a code or a grant of its own for every request. */
export async function measureOperations(
  server: RunningServer,
  sizes: { connections: number; requests: number },
): Promise<Partial<Record<Operation, Sample>>> {
  const { url, wire } = server;
  const codes = await server.issue(sizes.requests);
  return withConnections(url, sizes.connections, async (connections) => {
    const { sample, outputs: grants } = await convertAll(server, connections, codes);
    const samples: Partial<Record<Operation, Sample>> = { convert: sample };
    const { authenticate, revoke } = wire;
    const sampleOf = async (endpoint: Endpoint<Grant, void>) =>
      (await measure(server, connections, endpoint, grants)).sample;
    if (authenticate) {
      samples['first use'] = await sampleOf(authenticate);
      samples.authenticate = await sampleOf(authenticate);
    }
    if (revoke) samples.revoke = await sampleOf(revoke);

    // Last: an OAuth server revokes the grant of a code that is replayed (RFC 6749, 4.1.2).
    const [code, grant] = [codes[0], grants[0]];
    if (code !== undefined) await expectRefusal(url, connections, wire.convert, code);
    if (revoke && authenticate && grant) await expectRefusal(url, connections, authenticate, grant);
    return samples;
  });
}
