import type { AtOnce } from './at-once.ts';
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

/** How many connections the targets are about. */
export const CONNECTIONS = 32;

/**
 * Sends one request for each input, and looks at every answer.
 *
 * @param atOnce - what is measured beside; then there may be fewer outputs than inputs
 */
export async function measure<Input, Output>(
  { server, url }: Running,
  connections: readonly Connection[],
  call: Call<Input, Output>,
  inputs: readonly Input[],
  atOnce?: AtOnce,
): Promise<{ sample: Sample; outputs: Output[] }> {
  const requests = inputs.map((input) => call.request(input));
  const before = await server.cpuSeconds();
  const { answers, latencies, seconds } = await load(url, connections, requests, atOnce);
  const cpu = (await server.cpuSeconds()) - before;
  const outputs = answers.map((answer, index) => call.result(answer, inputs[index] as Input));
  latencies.sort();
  const sample = {
    throughput: answers.length / seconds,
    cpu: (cpu / answers.length) * 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    slowest: quantile(latencies, 1),
  };
  return { sample, outputs };
}

/** Sends what has to be refused by now. */
export async function refuse<Input>(
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

/** Exchanges codes, each once. */
export async function exchange(
  running: Running,
  connections: readonly Connection[],
  codes: readonly string[],
  atOnce?: AtOnce,
): Promise<{ sample: Sample; outputs: Grant[] }> {
  const { convert } = running.wire;
  const converted = await measure(running, connections, convert, codes, atOnce);
  if (new Set(converted.outputs.map(({ secret }) => secret)).size !== converted.outputs.length) {
    throw new Error('Two exchanges were given the same secret.');
  }
  return converted;
}

/**
 * Each operation once for each of so many codes: every request has a code or a grant of its own.
 *
 * @param atOnce - the turns that this one runs beside; then there may be fewer
 */
export async function turn(
  running: Running,
  sizes: { connections: number; requests: number },
  atOnce?: AtOnce,
): Promise<Partial<Record<Operation, Sample>>> {
  const { url, wire } = running;
  const codes = await running.issue(sizes.requests);
  return withConnections(url, sizes.connections, async (connections) => {
    const converted = await exchange(running, connections, codes, atOnce);
    const grants = converted.outputs;
    const samples: Partial<Record<Operation, Sample>> = { convert: converted.sample };
    const { authenticate, revoke } = wire;
    const sampleOf = async (call: Call<Grant, void>) =>
      (await measure(running, connections, call, grants, atOnce)).sample;
    if (authenticate) {
      samples['first use'] = await sampleOf(authenticate);
      samples.authenticate = await sampleOf(authenticate);
    }
    if (revoke) samples.revoke = await sampleOf(revoke);

    // At the end: an OAuth server ends the grant whose code comes again (RFC 6749, section 4.1.2).
    const [code, grant] = [codes[0], grants[0]];
    if (code !== undefined) await refuse(url, connections, wire.convert, code);
    if (revoke && authenticate && grant) await refuse(url, connections, authenticate, grant);
    return samples;
  });
}
