import { errorTable } from '@latchkey/schema';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { errorBody } from '../test/fake-service.ts';
import { account, applicationSecret, code, grantId, grantSecret } from '../test/samples.ts';
import { type ErrorCode, type Fetch, Latchkey, type LatchkeyError } from './index.ts';

// Uses fake timers and a fetch that responds from a list.

beforeEach(() => {
  vi.useFakeTimers();
  // No jitter.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Respond = () => Promise<Response>;

const responds =
  (status: number, body: string, headers: Record<string, string> = {}): Respond =>
  async () =>
    new Response(body, { status, headers });
const refuses = (error_code: ErrorCode, headers?: Record<string, string>): Respond => {
  const data = errorBody(error_code, { grant_id: grantId });
  return responds(errorTable[error_code].status, JSON.stringify({ error: { data } }), headers);
};
const fails =
  (cause: object): Respond =>
  () =>
    Promise.reject(new TypeError('fetch failed', { cause }));
const succeeds = responds(200, JSON.stringify({ result: { data: account } }));

const REFUSED = { code: 'ECONNREFUSED', syscall: 'connect', message: 'connect ECONNREFUSED' };

/** A client whose requests get these responses in order; the last one repeats. */
function clientFor(list: Respond[], options: { maxRetries?: number; timeoutMs?: number } = {}) {
  const sentAt: number[] = [];
  const start = performance.now();
  const fetch: Fetch = () => {
    sentAt.push(Math.round(performance.now() - start));
    return (list[sentAt.length - 1] ?? (list.at(-1) as Respond))();
  };
  const baseUrl = 'https://latchkey.example';
  return { latchkey: new Latchkey({ baseUrl, applicationSecret, fetch, ...options }), sentAt };
}

/** The outcome of a call after all its time has passed. */
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

describe('what is retried', () => {
  const nothingWasDone: [string, Respond][] = [
    ['not sent', fails(REFUSED)],
    ['rate_limited', refuses('rate_limited')],
    ['store_unavailable', refuses('store_unavailable')],
  ];
  const open: [string, Respond][] = [
    ['broken connection', fails({ code: 'ECONNRESET', syscall: 'read' })],
    ['a proxy’s 502', responds(502, '<html>')],
    ['a proxy’s 503', responds(503, '<html>')],
    ['a proxy’s 504', responds(504, '{}')],
    ['a proxy’s 429', responds(429, '<html>')],
    ['garbled', responds(200, '{"result":{"da')],
    ['internal_error', refuses('internal_error')],
    ['outcome_unknown', refuses('outcome_unknown')],
  ];
  const certain: [string, Respond][] = [
    ['credentials_invalid', refuses('credentials_invalid')],
    ['application_disabled', refuses('application_disabled')],
    ['parameter_invalid', refuses('parameter_invalid')],
    ['grant_not_found', refuses('grant_not_found')],
    ['code_already_used', refuses('code_already_used')],
    ['a redirect', responds(307, '')],
    ['a proxy’s 403', responds(403, '<html>')],
  ];

  describe.each(Object.entries(operations))('%s', (name, call) => {
    const isIdempotent = !['convert', 'recover'].includes(name);
    it.each([
      ...nothingWasDone.map(([what, respond]) => [what, respond, 3] as const),
      ...open.map(([what, respond]) => [what, respond, isIdempotent ? 3 : 1] as const),
      ...certain.map(([what, respond]) => [what, respond, 1] as const),
    ])('%s', async (_, respond, requests) => {
      const { latchkey, sentAt } = clientFor([respond]);
      await outcome(call(latchkey));
      expect(sentAt).toHaveLength(requests);
    });
  });

  it('succeeds with the first attempt that succeeds', async () => {
    const { latchkey, sentAt } = clientFor([fails(REFUSED), responds(502, '<html>'), succeeds]);
    expect(await outcome(latchkey.account(grantSecret))).toEqual(account);
    expect(sentAt).toHaveLength(3);
  });

  it('fails with the last error', async () => {
    const list = [fails(REFUSED), responds(502, '<html>'), refuses('internal_error')];
    const { latchkey } = clientFor(list);
    expect(await outcome(latchkey.account(grantSecret))).toBe('ServerError');
  });

  it('fails with the error that left the outcome open, if the last attempt did nothing', async () => {
    const cut = fails({ code: 'ECONNRESET', syscall: 'read' });
    const { latchkey } = clientFor([cut, refuses('store_unavailable'), fails(REFUSED)]);
    const error = await outcome(latchkey.revoke(grantId).catch((reason) => reason));
    expect(error).toMatchObject({ name: 'ConnectionError', maybe_sent: true });
  });

  it.each([0, 1, 5])('%d times, as maxRetries says', async (maxRetries) => {
    const { latchkey, sentAt } = clientFor([fails(REFUSED)], { maxRetries, timeoutMs: 60_000 });
    expect(await outcome(latchkey.account(grantSecret))).toBe('ConnectionError');
    expect(sentAt).toHaveLength(1 + maxRetries);
  });

  it.each([0, 1, 5])('%d times, as maxRetries of the call says', async (maxRetries) => {
    const { latchkey, sentAt } = clientFor([fails(REFUSED)], { maxRetries: 3 });
    const options = { maxRetries, timeoutMs: 60_000 };
    await outcome(latchkey.account(grantSecret, options));
    expect(sentAt).toHaveLength(1 + maxRetries);
    await outcome(latchkey.convert(code, options));
    expect(sentAt).toHaveLength(2 * (1 + maxRetries));
  });

  it('a request of a recovery that did nothing', async () => {
    const { latchkey, sentAt } = clientFor([
      fails({ code: 'ECONNRESET', syscall: 'read' }),
      fails(REFUSED),
      refuses('code_already_used'),
      refuses('store_unavailable'),
      responds(200, JSON.stringify({ result: { data: { ...account, object: 'oauth_grant' } } })),
    ]);
    const call = latchkey.convert(code, { recoverLostAnswer: true });
    expect(await outcome(call)).toMatchObject({ object: 'oauth_grant' });
    expect(sentAt).toHaveLength(5);
  });
});

describe('when it is retried', () => {
  it('after a wait that doubles, up to five seconds', async () => {
    const options = { maxRetries: 6, timeoutMs: 60_000 };
    const { latchkey, sentAt } = clientFor([fails(REFUSED)], options);
    await outcome(latchkey.account(grantSecret));
    expect(sentAt).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500]);
  });

  it('after a wait reduced by a random part of up to half', async () => {
    vi.mocked(Math.random).mockReturnValue(0.999_999);
    const { latchkey, sentAt } = clientFor([fails(REFUSED)]);
    await outcome(latchkey.account(grantSecret));
    expect(sentAt).toEqual([0, 250, 750]);
  });

  it.each([
    ['429', refuses('rate_limited', { 'retry-after': '3' })],
    ['503', refuses('store_unavailable', { 'retry-after': '3' })],
    ['a proxy’s 503', responds(503, '<html>', { 'retry-after': '3' })],
  ])('at the time in Retry-After, with %s', async (_, respond) => {
    const { latchkey, sentAt } = clientFor([respond, succeeds]);
    expect(await outcome(latchkey.account(grantSecret))).toEqual(account);
    expect(sentAt).toEqual([0, 3_000]);
  });

  it('never, and without a wait, if the call would time out first', async () => {
    const respond = refuses('rate_limited', { 'retry-after': '10' });
    const { latchkey, sentAt } = clientFor([respond], { timeoutMs: 10_000 });
    const error = await latchkey.account(grantSecret).catch((reason) => reason);
    expect(error).toMatchObject({ name: 'RateLimitedError', retry_after: 10 });
    expect(sentAt).toEqual([0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('within the timeout of the call, which includes the waits', async () => {
    const never: Respond = () => new Promise(() => {});
    const { latchkey, sentAt } = clientFor([fails(REFUSED), never], { timeoutMs: 2_000 });
    const settled = latchkey.account(grantSecret).catch((error) => error);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await settled).toMatchObject({ name: 'TimeoutError' });
    expect(sentAt).toEqual([0, 500]);
  });

  it('not after an abort, which leaves no timer behind', async () => {
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
