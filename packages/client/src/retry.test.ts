import { errorTable } from '@latchkey/schema';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { errorBody } from '../test/fake-service.ts';
import { account, applicationSecret, code, grantId, grantSecret } from '../test/samples.ts';
import { type ErrorCode, type Fetch, Latchkey, type LatchkeyError } from './index.ts';

// With the clock in hand, and a fetch that answers from a list: what is tried again, and when.

beforeEach(() => {
  vi.useFakeTimers();
  // No jitter.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Answers = () => Promise<Response>;

const answers =
  (status: number, body: string, headers: Record<string, string> = {}): Answers =>
  async () =>
    new Response(body, { status, headers });
const refuses = (errorCode: ErrorCode, headers?: Record<string, string>): Answers => {
  const data = errorBody(errorCode, { grant_id: grantId });
  return answers(errorTable[errorCode].status, JSON.stringify({ error: { data } }), headers);
};
const fails =
  (cause: object): Answers =>
  () =>
    Promise.reject(new TypeError('fetch failed', { cause }));
const succeeds = answers(200, JSON.stringify({ result: { data: account } }));

const REFUSED = { code: 'ECONNREFUSED', syscall: 'connect', message: 'connect ECONNREFUSED' };

/** A client to whose requests these are the answers; the last one is that to all further ones. */
function clientFor(list: Answers[], options: { maxRetries?: number; timeoutMs?: number } = {}) {
  const sentAt: number[] = [];
  const start = performance.now();
  const fetch: Fetch = () => {
    sentAt.push(Math.round(performance.now() - start));
    return (list[sentAt.length - 1] ?? (list.at(-1) as Answers))();
  };
  const baseUrl = 'https://latchkey.example';
  return { latchkey: new Latchkey({ baseUrl, applicationSecret, fetch, ...options }), sentAt };
}

/** What a call comes to, once all its time has passed. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  const settled = call.catch((error: LatchkeyError) => error.name);
  await vi.runAllTimersAsync();
  return settled;
}

const operations = {
  convert: (latchkey: Latchkey) => latchkey.convert(code),
  recover: (latchkey: Latchkey) => latchkey.recover(grantId),
  revoke: (latchkey: Latchkey) => latchkey.revoke(grantId),
  account: (latchkey: Latchkey) => latchkey.account(grantSecret),
  grant: (latchkey: Latchkey) => latchkey.grant(grantSecret),
};

describe('what is tried again', () => {
  const nothingWasDone: [string, Answers][] = [
    ['not sent', fails(REFUSED)],
    ['rate_limited', refuses('rate_limited')],
    ['store_unavailable', refuses('store_unavailable')],
  ];
  const open: [string, Answers][] = [
    ['cut', fails({ code: 'ECONNRESET', syscall: 'read' })],
    ['the page of a proxy with 502', answers(502, '<html>')],
    ['the page of a proxy with 429', answers(429, '<html>')],
    ['garbled', answers(200, '{"result":{"da')],
    ['internal_error', refuses('internal_error')],
    ['outcome_unknown', refuses('outcome_unknown')],
  ];
  const certain: [string, Answers][] = [
    ['credentials_invalid', refuses('credentials_invalid')],
    ['parameter_invalid', refuses('parameter_invalid')],
    ['grant_not_found', refuses('grant_not_found')],
    ['code_already_used', refuses('code_already_used')],
    ['a redirect', answers(307, '')],
    ['the page of a proxy with 403', answers(403, '<html>')],
  ];

  describe.each(Object.entries(operations))('%s', (name, call) => {
    const isRepeatable = !['convert', 'recover'].includes(name);
    it.each([
      ...nothingWasDone.map(([what, answer]) => [what, answer, 3] as const),
      ...open.map(([what, answer]) => [what, answer, isRepeatable ? 3 : 1] as const),
      ...certain.map(([what, answer]) => [what, answer, 1] as const),
    ])('%s', async (_, answer, requests) => {
      const { latchkey, sentAt } = clientFor([answer]);
      await outcome(call(latchkey));
      expect(sentAt).toHaveLength(requests);
    });
  });

  it('succeeds as soon as one try does', async () => {
    const { latchkey, sentAt } = clientFor([fails(REFUSED), answers(502, '<html>'), succeeds]);
    expect(await outcome(latchkey.account(grantSecret))).toEqual(account);
    expect(sentAt).toHaveLength(3);
  });

  it('fails with the last error', async () => {
    const list = [fails(REFUSED), answers(502, '<html>'), refuses('internal_error')];
    const { latchkey } = clientFor(list);
    expect(await outcome(latchkey.account(grantSecret))).toBe('ServerError');
  });

  it('fails with the one that leaves the outcome open, where the last try was not even sent', async () => {
    const cut = fails({ code: 'ECONNRESET', syscall: 'read' });
    const { latchkey } = clientFor([cut, refuses('store_unavailable'), fails(REFUSED)]);
    const error = await outcome(latchkey.revoke(grantId).catch((reason) => reason));
    expect(error).toMatchObject({ name: 'ConnectionError', maybeSent: true });
  });

  it.each([0, 1, 5])('%d times, where maxRetries says so', async (maxRetries) => {
    const { latchkey, sentAt } = clientFor([fails(REFUSED)], { maxRetries, timeoutMs: 60_000 });
    expect(await outcome(latchkey.account(grantSecret))).toBe('ConnectionError');
    expect(sentAt).toHaveLength(1 + maxRetries);
  });

  it('a step of a recovery of which nothing was done', async () => {
    const { latchkey, sentAt } = clientFor([
      fails({ code: 'ECONNRESET', syscall: 'read' }),
      fails(REFUSED),
      refuses('code_already_used'),
      refuses('store_unavailable'),
      answers(200, JSON.stringify({ result: { data: { ...account, object: 'oauth_grant' } } })),
    ]);
    const call = latchkey.convert(code, { recoverLostAnswer: true });
    expect(await outcome(call)).toMatchObject({ object: 'oauth_grant' });
    expect(sentAt).toHaveLength(5);
  });
});

describe('when it is tried again', () => {
  it('after a time that doubles, up to five seconds', async () => {
    const options = { maxRetries: 6, timeoutMs: 60_000 };
    const { latchkey, sentAt } = clientFor([fails(REFUSED)], options);
    await outcome(latchkey.account(grantSecret));
    expect(sentAt).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500]);
  });

  it('less up to half of it, by chance', async () => {
    vi.mocked(Math.random).mockReturnValue(0.999_999);
    const { latchkey, sentAt } = clientFor([fails(REFUSED)]);
    await outcome(latchkey.account(grantSecret));
    expect(sentAt).toEqual([0, 250, 750]);
  });

  it.each([
    ['429', refuses('rate_limited', { 'retry-after': '3' })],
    ['503', refuses('store_unavailable', { 'retry-after': '3' })],
    ['503 of a proxy', answers(503, '<html>', { 'retry-after': '3' })],
  ])('when Retry-After says, with %s', async (_, answer) => {
    const { latchkey, sentAt } = clientFor([answer, succeeds]);
    expect(await outcome(latchkey.account(grantSecret))).toEqual(account);
    expect(sentAt).toEqual([0, 3_000]);
  });

  it('not at all, and without a wait, where the time of the call would be up', async () => {
    const answer = refuses('rate_limited', { 'retry-after': '10' });
    const { latchkey, sentAt } = clientFor([answer], { timeoutMs: 10_000 });
    const error = await latchkey.account(grantSecret).catch((reason) => reason);
    expect(error).toMatchObject({ name: 'RateLimitedError', retryAfter: 10 });
    expect(sentAt).toEqual([0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('within the time of the call, which the waits are part of', async () => {
    const never: Answers = () => new Promise(() => {});
    const { latchkey, sentAt } = clientFor([fails(REFUSED), never], { timeoutMs: 2_000 });
    const settled = latchkey.account(grantSecret).catch((error) => error);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await settled).toMatchObject({ name: 'TimeoutError' });
    expect(sentAt).toEqual([0, 500]);
  });

  it('not once the caller has left, of whom no timer remains', async () => {
    const controller = new AbortController();
    const { latchkey, sentAt } = clientFor([fails(REFUSED)]);
    const call = latchkey.account(grantSecret, { signal: controller.signal });
    const settled = call.catch((reason) => reason);
    await vi.advanceTimersByTimeAsync(100);
    controller.abort('gone');
    expect(await settled).toBe('gone');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(sentAt).toEqual([0]);
  });
});
