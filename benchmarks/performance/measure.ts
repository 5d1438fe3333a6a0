import type { Connection } from './connection.ts';
import { type Call, type Grant, type Running, wrongAnswer } from './contender.ts';
import { load, withConnections } from './load.ts';
import { quantile, type Sample } from './statistics.ts';

/**
 * What is measured, in the order in which a grant meets it. The first use of a grant is written
 * down, so it is another operation than those that follow.
 */
export const operations = ['convert', 'first use', 'authenticate', 'revoke'] as const;
export type Operation = (typeof operations)[number];

/** Sends one request for each input, and looks at every answer. */
async function measure<Input, Output>(
  { server, url }: Running,
  connections: readonly Connection[],
  call: Call<Input, Output>,
  inputs: readonly Input[],
): Promise<{ sample: Sample; outputs: Output[] }> {
  const requests = inputs.map((input) => call.request(input));
  const before = await server.cpuSeconds();
  const { answers, latencies, seconds } = await load(url, connections, requests);
  const cpu = (await server.cpuSeconds()) - before;
  const outputs = answers.map((answer, index) => call.result(answer, inputs[index] as Input));
  latencies.sort();
  const sample = {
    throughput: inputs.length / seconds,
    cpu: (cpu / inputs.length) * 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
  return { sample, outputs };
}

/** Sends what has to be refused by now. */
async function refuse<Input>(
  url: URL,
  connections: readonly Connection[],
  call: Call<Input, unknown>,
  input: Input,
): Promise<void> {
  const { answers } = await load(url, connections, [call.request(input)]);
  const [answer] = answers;
  if (answer && answer.status >= 400 && answer.status < 500) return;
  throw new Error('What was used up, or revoked, was let in again.', {
    cause: answer && wrongAnswer('It', answer),
  });
}

/** Each operation once for each of so many codes: every request has a code or a grant of its own. */
export async function turn(
  running: Running,
  sizes: { connections: number; requests: number },
): Promise<Partial<Record<Operation, Sample>>> {
  const { url, wire } = running;
  const codes = await running.issue(sizes.requests);
  return withConnections(url, sizes.connections, async (connections) => {
    const converted = await measure(running, connections, wire.convert, codes);
    const grants: Grant[] = converted.outputs;
    if (new Set(grants.map(({ secret }) => secret)).size !== codes.length) {
      throw new Error('Two exchanges were given the same secret.');
    }
    const samples: Partial<Record<Operation, Sample>> = { convert: converted.sample };
    const { authenticate, revoke } = wire;
    if (authenticate) {
      samples['first use'] = (await measure(running, connections, authenticate, grants)).sample;
      samples.authenticate = (await measure(running, connections, authenticate, grants)).sample;
    }
    if (revoke) samples.revoke = (await measure(running, connections, revoke, grants)).sample;

    const [code, grant] = [codes[0], grants[0]];
    if (code !== undefined) await refuse(url, connections, wire.convert, code);
    if (revoke && authenticate && grant) await refuse(url, connections, authenticate, grant);
    return samples;
  });
}
