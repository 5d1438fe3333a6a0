import { beforeAll, describe, expect, it, vi } from 'vitest';
import { errorBody, type Reply, refusal, result, startFakeService } from '../test/fake-service.ts';
import { reason } from '../test/reason.ts';
import { account, applicationSecret, code, fullGrant, grantSecret } from '../test/samples.ts';
import { useFakeService } from '../test/use-fake-service.ts';
import {
  ConnectionError,
  Latchkey,
  LatchkeyError,
  TimeoutError,
  UnexpectedResponseError,
} from './index.ts';

const service = useFakeService();
let latchkey: Latchkey;

beforeAll(() => {
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 0 });
});

const text =
  (status: number, body: string, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };
const never: Reply = () => {};
const reset: Reply = (response) => void response.destroy();
const cut: Reply = (response) => {
  response.writeHead(200, { ...json, 'content-length': 5_000 });
  response.write('{"result":{"data":{"object":"oauth_grant"');
  setImmediate(() => response.destroy());
};

describe('without a complete response', () => {
  it('reports for a refused connection that the request was not sent', async () => {
    const gone = await startFakeService(never);
    await gone.close();
    const error = await reason(
      new Latchkey({ baseUrl: gone.url, applicationSecret, maxRetries: 0 }).convert(code),
    );
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ name: 'ConnectionError', maybe_sent: false });
    expect(error.message).toContain(gone.url);
    expect(error.message).toContain('ECONNREFUSED');
    expect(error.message).toContain('was not sent');
    expect(error.cause.cause).toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect' });
  });

  it('reports the same for a host that does not exist', async () => {
    const nowhere = new Latchkey({
      baseUrl: 'https://latchkey.invalid',
      applicationSecret,
      maxRetries: 0,
      // The error that Node throws. The test must not ask a name server.
      fetch: () => {
        const cause = Object.assign(new Error('getaddrinfo ENOTFOUND latchkey.invalid'), {
          code: 'ENOTFOUND',
          syscall: 'getaddrinfo',
        });
        return Promise.reject(new TypeError('fetch failed', { cause }));
      },
    });
    const error = await reason(nowhere.convert(code));
    expect(error).toMatchObject({ name: 'ConnectionError', maybe_sent: false });
  });

  it('reports the same if every address of a host was tried', async () => {
    const tries = ['::1', '127.0.0.1'].map((address) =>
      Object.assign(new Error(`connect ETIMEDOUT ${address}`), {
        code: 'ETIMEDOUT',
        syscall: 'connect',
        address,
      }),
    );
    const fetch = () =>
      Promise.reject(new TypeError('fetch failed', { cause: new AggregateError(tries) }));
    const error = await reason(
      new Latchkey({ baseUrl: service.url, applicationSecret, fetch, maxRetries: 0 }).convert(code),
    );
    expect(error).toMatchObject({ name: 'ConnectionError', maybe_sent: false });
    expect(error.cause.cause.cause).toMatchObject({ address: '::1' });
  });

  it.each([
    ['is reset before the response', reset],
    ['breaks in the middle of the response', cut],
  ])('reports that the request may have been sent if the connection %s', async (_, reply) => {
    service.reply = reply;
    const error = await reason(latchkey.convert(code));
    expect(error).toMatchObject({ name: 'ConnectionError', maybe_sent: true });
    expect(error.message).toContain('may have been sent');
    expect(error.cause).toBeInstanceOf(Error);
    expect(error).not.toHaveProperty('status');
  });

  it.each([['a string'], [undefined], [null], [{ message: 42 }], [Symbol('one')]])(
    'accepts whatever a fetch throws: %s',
    async (thrown) => {
      const fetch = () => Promise.reject(thrown);
      const odd = new Latchkey({ baseUrl: service.url, applicationSecret, fetch });
      expect(await reason(odd.convert(code))).toBeInstanceOf(ConnectionError);
    },
  );
});

describe('a response that is not from Latchkey', () => {
  it.each<[string, Reply, number]>([
    ['a proxy’s page', text(502, '<html>Bad gateway</html>', html), 502],
    ['a page with status 200', text(200, '<html>Welcome</html>', html), 200],
    ['an empty body', text(200, ''), 200],
    ['an empty body with 204', text(204, ''), 204],
    ['truncated JSON', text(200, '{"result":{"data":{"object":"oauth_gr', json), 200],
    ['JSON that is not an object', text(200, '[]', json), 200],
    ['null', text(200, 'null', json), 200],
    ['a number', text(500, '7', json), 500],
    ['JSON of another program', text(200, '{"ok":true}', json), 200],
    ['JSON of a gateway', text(503, '{"error":"upstream"}', json), 503],
    ['an error that is not an object', text(400, '{"error":null}', json), 400],
    [
      'an error of another tRPC server',
      text(404, '{"error":{"message":"","code":-32004}}', json),
      404,
    ],
    [
      'an error without an error_code',
      text(404, '{"error":{"message":"","code":-32004,"data":{"code":"NOT_FOUND"}}}', json),
      404,
    ],
    ['an error with status 200', text(200, '{"error":{"message":"","code":-32004}}', json), 200],
    ['a result with status 500', text(500, JSON.stringify({ result: { data: fullGrant } })), 500],
    ['a result that is not an object', text(200, '{"result":"?"}', json), 200],
    ['a result that is not complete', text(200, '{"result":{"type":"started"}}', json), 200],
  ])('is an UnexpectedResponseError with its status: %s', async (_, reply, status) => {
    service.reply = reply;
    const error = await reason(latchkey.convert(code));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.status).toBe(status);
    expect(error.message).toContain(`status ${status}`);
    expect(error).not.toHaveProperty('error_code');
    expect(error).not.toHaveProperty('cause');
  });

  it.each([502, 503, 504])('says with status %d that a proxy answered', async (status) => {
    service.reply = text(status, '<html>', html);
    const { name, message } = await reason(latchkey.convert(code));
    // Not an UnavailableError, which promises that nothing was done.
    expect(name).toBe('UnexpectedResponseError');
    expect(message).toMatch(/^A proxy answered .+ may have carried out the request\.$/);
  });

  it('describes the response without quoting it', async () => {
    service.reply = text(502, `<html>${'secret '.repeat(9)}</html>`, {
      ...html,
      'x-request-id': 'of-the-proxy',
      'retry-after': '30',
    });
    const error = await reason(latchkey.convert(code));
    expect(error).toMatchObject({ request_id: 'of-the-proxy', retry_after: 30 });
    expect(error.message).toContain('(text/html, 76 characters)');
    expect(error.message).not.toContain('secret');
  });

  it.each([301, 302, 303, 307, 308])(
    'is a redirect (%d), which is not followed',
    async (status) => {
      const elsewhere = await startFakeService(result(fullGrant));
      service.reply = text(status, '', { location: `${elsewhere.url}/trpc/grants.convert` });
      const error = await reason(latchkey.convert(code));
      expect(error).toMatchObject({ name: 'UnexpectedResponseError', status });
      expect(error.message).toMatch(/redirect.*Set baseUrl/);
      expect(elsewhere.requests).toEqual([]);
      await elsewhere.close();
    },
  );
});

describe('a Latchkey at another path', () => {
  const body = errorBody('route_not_found');
  const restBody: Reply = (response) =>
    void response.writeHead(404, json).end(JSON.stringify(body));

  it.each<[string, string, Reply, RegExp]>([
    [
      'a prefix that the proxy does not remove',
      '/auth',
      restBody,
      /not serve \/auth\/trpc\/grants\.convert\..*set it to http:\S+\d\. If a proxy .* at \/auth\/, it must remove that prefix/,
    ],
    ['a path of the interface itself', '/trpc', refusal('route_not_found'), /at \/trpc\/, it must/],
    ['the port of ADMIN_PORT', '', refusal('route_not_found'), /PORT, not ADMIN_PORT/],
  ])('is recognised: %s', async (_, path, reply, message) => {
    service.reply = reply;
    const lost = new Latchkey({ baseUrl: service.url + path, applicationSecret });
    const error = await reason(lost.convert(code, { recoverLostAnswer: true }));
    expect(error).toMatchObject({ error_code: 'route_not_found', status: 404 });
    expect(error.constructor.name).toBe('InvalidRequestError');
    expect(error.message).toMatch(/^This is Latchkey, but not at this path/);
    expect(error.message).toMatch(message);
    expect(service.requests).toHaveLength(1);
  });

  it('is not taken for one if another program has no such page', async () => {
    service.reply = text(404, '{"error_code":"route_not_found"}', json);
    expect(await reason(latchkey.convert(code))).toBeInstanceOf(UnexpectedResponseError);
  });
});

describe('the timeout', () => {
  it('ends a call without a response', async () => {
    service.reply = never;
    const error = await reason(latchkey.convert(code, { timeoutMs: 50 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ name: 'TimeoutError', maybe_sent: true });
    expect(error.message).toContain('within 50 ms');
  });

  it('covers the whole response, not only its headers', async () => {
    service.reply = (response) => {
      response.writeHead(200, json);
      response.write('{"result":');
    };
    const error = await reason(latchkey.convert(code, { timeoutMs: 200 }));
    expect(error).toBeInstanceOf(TimeoutError);
  });

  it('is the client’s, unless the call has its own', async () => {
    service.reply = never;
    const hasty = new Latchkey({ baseUrl: service.url, applicationSecret, timeoutMs: 50 });
    expect((await reason(hasty.convert(code))).message).toContain('50 ms');
    expect((await reason(hasty.convert(code, { timeoutMs: 60 }))).message).toContain('60 ms');
  });

  it('works with a fetch that ignores its signal', async () => {
    const deaf = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      timeoutMs: 50,
      fetch: () => new Promise(() => {}),
    });
    expect(await reason(deaf.convert(code))).toBeInstanceOf(TimeoutError);
  });

  it('closes the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      service.reply = (response) => void response.on('close', resolve);
    });
    await reason(latchkey.convert(code, { timeoutMs: 3_000 }));
    await closed;
  });
});

describe('the caller’s signal', () => {
  it('ends a call with its reason, as fetch does', async () => {
    const controller = new AbortController();
    service.reply = () => controller.abort(why);
    const why = new Error('The user left.');
    const error = await reason(latchkey.convert(code, { signal: controller.signal }));
    expect(error).toBe(why);
    expect(error).not.toBeInstanceOf(LatchkeyError);
  });

  it('rejects with an AbortError if it has no reason', async () => {
    const controller = new AbortController();
    service.reply = () => controller.abort();
    const error = await reason(latchkey.convert(code, { signal: controller.signal }));
    expect(error).toMatchObject({ name: 'AbortError' });
  });

  it('prevents the request if it has aborted already', async () => {
    service.reply = result(fullGrant);
    const signal = AbortSignal.abort('too late');
    expect(await reason(latchkey.convert(code, { signal }))).toBe('too late');
    expect(service.requests).toEqual([]);
  });

  it('has no listener left, however the call ends', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    };
    service.reply = result(account);
    await latchkey.account(grantSecret, { signal });
    service.reply = reset;
    await reason(latchkey.account(grantSecret, { signal }));
    service.reply = never;
    await reason(latchkey.account(grantSecret, { signal, timeoutMs: 50 }));
    expect(listeners).toBe(0);
  });
});

const timer = { timeoutMs: 54_321 };
it.each([
  [
    'that is not shared',
    'setTimeout',
    'clearTimeout',
    () => latchkey.account(grantSecret, timer),
    account,
  ],
  [
    'that may be shared',
    'setInterval',
    'clearInterval',
    () => latchkey.convert(code, timer),
    fullGrant,
  ],
] as const)('leaves no timer behind after a call %s', async (_, setName, clearName, call, data) => {
  const set = vi.spyOn(globalThis, setName);
  const clear = vi.spyOn(globalThis, clearName);
  service.reply = result(data);
  await call();
  service.reply = reset;
  await reason(call());
  const timers = set.mock.calls.flatMap(([, ms], index) =>
    ms === timer.timeoutMs ? [set.mock.results[index]?.value] : [],
  );
  expect(timers).toHaveLength(2);
  for (const timer of timers) expect(clear).toHaveBeenCalledWith(timer);
  vi.restoreAllMocks();
});
describe('a conversion is sent once, whatever the response', () => {
  let latchkey: Latchkey;
  beforeAll(() => {
    latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 5 });
  });

  it.each<[string, Reply]>([
    ['a reset', reset],
    ['half a response', cut],
    ['a 502', text(502, '<html></html>', html)],
    ['a 503 that asks for a retry', text(503, '', { 'retry-after': '0' })],
    ['a 429', text(429, '', { 'retry-after': '0' })],
    ['a 408, after which some clients retry', text(408, '')],
    ['a redirect to itself', text(307, '', { location: '/trpc/grants.convert' })],
    ['garbage', text(200, 'garbage')],
    ['nothing', never],
  ])('%s', async (_, reply) => {
    service.reply = reply;
    await reason(latchkey.convert(code, { timeoutMs: 3_000 }));
    // A retry would arrive before this request.
    service.reply = result(account);
    await latchkey.account(grantSecret);
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/trpc/grants.convert',
      '/trpc/account.get',
    ]);
  });

  it('on a kept-alive connection that breaks at that moment', async () => {
    service.reply = result(account);
    await latchkey.account(grantSecret);
    service.reply = reset;
    await reason(latchkey.convert(code));
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/trpc/account.get',
      '/trpc/grants.convert',
    ]);
  });
});
