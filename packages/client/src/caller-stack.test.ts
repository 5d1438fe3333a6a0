import { describe, expect, it, vi } from 'vitest';
import { errorBody } from '../test/fake-service.ts';
import { reason } from '../test/reason.ts';
import { applicationSecret, code, grantId, grantSecret } from '../test/samples.ts';
import { type Fetch, Latchkey } from './index.ts';

const never: Fetch = () => new Promise(() => {});
const broken: Fetch = () => Promise.reject(new TypeError('fetch failed'));
const replies =
  (status: number, body: string): Fetch =>
  async () => {
    // Not within the same turn of the event loop, as with a real network.
    await new Promise(setImmediate);
    return new Response(body, { status });
  };
const refuses = replies(401, JSON.stringify({ error: { data: errorBody('credentials_invalid') } }));

const clientWith = (fetch: Fetch) =>
  new Latchkey({
    baseUrl: 'https://latchkey.example',
    applicationSecret,
    fetch,
    maxRetries: 1,
    timeoutMs: 20,
  });

const methods: [string, (latchkey: Latchkey) => Promise<unknown>][] = [
  ['convert', (latchkey) => latchkey.convert(code)],
  ['convert, with recovery', (latchkey) => latchkey.convert(code, { recoverLostAnswer: true })],
  ['revoke', (latchkey) => latchkey.revoke(grantId)],
  ['recover', (latchkey) => latchkey.recover(grantId)],
  ['account', (latchkey) => latchkey.account(grantSecret)],
  ['grant', (latchkey) => latchkey.grant(grantSecret)],
];

/** The function in a program that makes the call, and whose name must be in the stack. */
async function linkAccount(call: () => Promise<unknown>) {
  await null; // so that nothing but the chain of awaits leads here
  return await call();
}

/** The lines of a stack that name a file of the client. */
const ownFrames = (stack: string) =>
  stack.split('\n').filter((line) => /\/src\/(?!.*\.test\.ts)/.test(line));

describe.each(methods)('the stack of an error of %s', (_, call) => {
  it.each<[string, Fetch]>([
    ['a refusal', refuses],
    ['a response that is not from Latchkey', replies(502, '<html>')],
    ['a broken connection', broken],
    ['a timeout', never],
  ])('begins with the caller: %s', async (_, fetch) => {
    const error = await reason(linkAccount(() => call(clientWith(fetch))));
    const [first, second] = error.stack.split('\n    at ');
    expect(first).toBe(`${error.name}: ${error.message}`);
    expect(second).toContain('caller-stack.test.ts');
    expect(error.stack).toMatch(/at (async )?linkAccount .*caller-stack\.test\.ts/);
    expect(ownFrames(error.stack)).toEqual([]);
    expect(Object.keys(error)).not.toContain('stack');
  });
});

it('shows the caller if an argument or an option is wrong', async () => {
  for (const call of [
    () => clientWith(never).convert(''),
    () => clientWith(never).account(grantSecret, { timeoutMs: -1 }),
  ]) {
    expect((await reason(linkAccount(call))).stack).toMatch(/at (async )?linkAccount /);
  }
});

it('shows each of the callers that share a request its own place', async () => {
  const latchkey = clientWith(refuses);
  async function one() {
    return await latchkey.convert(code);
  }
  async function other() {
    return await latchkey.convert(code);
  }
  const [ofOne, ofOther] = await Promise.all([reason(one()), reason(other())]);
  expect(ofOne.stack).toMatch(/at one /);
  expect(ofOther.stack).toMatch(/at other /);
});

it('does not touch the reason of an abort', async () => {
  const why = new Error('The user left.');
  const { stack } = why;
  const signal = AbortSignal.abort(why);
  expect(await reason(clientWith(never).account(grantSecret, { signal }))).toBe(why);
  expect(why.stack).toBe(stack);
});

it.each<[string, () => void]>([
  ['turned off', () => vi.stubGlobal('Error', Object.assign(Error, { stackTraceLimit: 0 }))],
  ['not captured by the runtime', () => vi.spyOn(Error, 'captureStackTrace').mockReturnValue()],
])('leaves errors as they are where stacks are %s', async (_, without) => {
  const { stackTraceLimit } = Error;
  try {
    without();
    const error = await reason(clientWith(refuses).account(grantSecret));
    expect(error.stack).toContain('AuthenticationError: ');
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
});
