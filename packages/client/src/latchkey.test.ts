import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, result } from '../test/fake-service.ts';
import { reason } from '../test/reason.ts';
import {
  account,
  applicationSecret,
  code,
  fullGrant,
  grantDescription,
  grantId,
  grantSecret,
  revokedGrant,
} from '../test/samples.ts';
import { useFakeService } from '../test/use-fake-service.ts';
import { Latchkey, UnexpectedResponseError } from './index.ts';

const service = useFakeService();
let latchkey: Latchkey;

beforeAll(() => {
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 0 });
});

const calls = [
  {
    name: 'convert',
    call: () => latchkey.convert(code),
    data: fullGrant,
    request: { method: 'POST', url: '/trpc/grants.convert', body: JSON.stringify({ code }) },
    secret: applicationSecret,
  },
  {
    name: 'revoke',
    call: () => latchkey.revoke(grantId),
    data: revokedGrant,
    request: {
      method: 'POST',
      url: '/trpc/grants.revoke',
      body: JSON.stringify({ grant_id: grantId }),
    },
    secret: applicationSecret,
  },
  {
    name: 'recover',
    call: () => latchkey.recover(grantId),
    data: fullGrant,
    request: {
      method: 'POST',
      url: '/trpc/grants.recover',
      body: JSON.stringify({ grant_id: grantId }),
    },
    secret: applicationSecret,
  },
  {
    name: 'account',
    call: () => latchkey.account(grantSecret),
    data: account,
    request: { method: 'GET', url: '/trpc/account.get', body: '' },
    secret: grantSecret,
  },
  {
    name: 'grant',
    call: () => latchkey.grant(grantSecret),
    data: grantDescription,
    request: { method: 'GET', url: '/trpc/account.grant', body: '' },
    secret: grantSecret,
  },
  {
    name: 'introspect',
    call: () => latchkey.introspect(grantSecret),
    data: { active: false },
    request: {
      method: 'POST',
      url: '/trpc/grants.introspect',
      body: JSON.stringify({ token: grantSecret }),
    },
    secret: applicationSecret,
  },
];

describe.each(calls)('$name', ({ call, data, request, secret }) => {
  it('has its request id, which copies and JSON of the result do not contain', async () => {
    service.reply = result(data);
    const returned = await call();
    expect(returned.request_id).toBe('request-1');
    expect(Object.keys(returned)).toEqual(Object.keys(data));
    expect(JSON.stringify(returned)).toBe(JSON.stringify(data));
    expect({ ...returned }).not.toHaveProperty('request_id');
  });

  it('has the status and headers of its response, which copies do not contain', async () => {
    service.reply = result(data, { 'ratelimit-remaining': '7', 'x-echo': `a ${secret}` });
    const returned = await call();
    expect(returned.response?.status).toBe(200);
    expect(returned.response?.headers.get('RateLimit-Remaining')).toBe('7');
    expect(returned.response?.headers.get('retry-after')).toBeNull();
    expect(returned.response?.headers.get('x-echo')).toBe('a [redacted]');
    expect({ ...returned }).not.toHaveProperty('response');
    expect(JSON.stringify(returned)).toBe(JSON.stringify(data));
  });

  it('rejects with an error that has them too, but does not show them', async () => {
    service.reply = refusal('credentials_invalid', {}, { 'x-proxy': 'edge-7' });
    const error = await reason(call());
    expect(error.response.status).toBe(401);
    expect(error.response.headers.get('X-Proxy')).toBe('edge-7');
    expect(inspect(error, { showHidden: true }) + JSON.stringify(error)).not.toContain('edge-7');
    service.reply = (response) => response.writeHead(502, { via: 'edge-8' }).end('<html>');
    expect((await reason(call())).response.headers.get('via')).toBe('edge-8');
    service.reply = (response) => void response.destroy();
    expect((await reason(call())).response).toBeUndefined();
  });

  it('has no request id if the response has none', async () => {
    service.reply = (response) => response.writeHead(200).end(JSON.stringify({ result: { data } }));
    expect((await call()).request_id).toBeUndefined();
  });

  it('sends one request with its secret, and returns the result', async () => {
    service.reply = result(data);
    expect(await call()).toEqual(data);
    expect(service.requests).toEqual([expect.objectContaining(request)]);
    expect(service.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      accept: 'application/json',
    });
    if (request.method === 'POST') {
      expect(service.requests[0]?.headers['content-type']).toBe('application/json');
    }
  });

  it('passes on members that it does not know', async () => {
    const newer = { ...data, since: 'tomorrow', nested: { more: [1] } };
    service.reply = result(newer);
    expect(await call()).toEqual(newer);
  });

  it.each([undefined, null, 'text', 42, [], {}, { object: 'something_else' }])(
    'rejects a result of the wrong kind: %j',
    async (garbage) => {
      service.reply = result(garbage);
      await expect(call()).rejects.toThrow(UnexpectedResponseError);
    },
  );
});

describe('revokeToken', () => {
  it('sends the secret, and resolves to nothing', async () => {
    service.reply = result({});
    expect(await latchkey.revokeToken(grantSecret)).toBeUndefined();
    expect(service.requests).toEqual([
      expect.objectContaining({
        url: '/trpc/grants.revokeToken',
        body: JSON.stringify({ token: grantSecret }),
      }),
    ]);
  });

  it.each([undefined, null, 'text', 42, [], { object: 'something_else' }])(
    'rejects a result of the wrong kind: %j',
    async (garbage) => {
      service.reply = result(garbage);
      await expect(latchkey.revokeToken(grantSecret)).rejects.toThrow(UnexpectedResponseError);
    },
  );
});

it('never puts a secret or a code into a URL', async () => {
  for (const { call, data } of calls) {
    service.reply = result(data);
    await call();
  }
  for (const { url } of service.requests) expect(url).not.toMatch(/lk_|\?/);
});

it.each([
  ['', '/trpc/account.get'],
  ['/', '/trpc/account.get'],
  ['/accounts/link', '/accounts/link/trpc/account.get'],
  ['/accounts/link/', '/accounts/link/trpc/account.get'],
  ['/a%20b//', '/a%20b/trpc/account.get'],
])('finds the service at a baseUrl that ends with "%s"', async (suffix, url) => {
  service.reply = result(account);
  await new Latchkey({ baseUrl: service.url + suffix, applicationSecret }).account(grantSecret);
  expect(service.requests.map((request) => request.url)).toEqual([url]);
});

it('keeps concurrent calls apart', async () => {
  // Responds in reverse order, to each request with its own secret.
  const waiting: (() => void)[] = [];
  service.reply = (response, request) => {
    const id = request.headers.authorization ?? '';
    waiting.push(() => result({ ...account, id })(response, request));
    if (waiting.length === 20) for (const reply of waiting.reverse()) reply();
  };
  const secrets = Array.from({ length: 20 }, (_, i) => `${grantSecret}${i}`);
  const accounts = await Promise.all(secrets.map((secret) => latchkey.account(secret)));
  expect(accounts.map(({ id }) => id)).toEqual(secrets.map((secret) => `Bearer ${secret}`));
  expect(service.requests).toHaveLength(20);
});

it('uses the given fetch', async () => {
  const seen: unknown[] = [];
  const proxied = new Latchkey({
    baseUrl: 'https://latchkey.example/',
    applicationSecret,
    fetch: async (url, { signal, ...init }) => {
      seen.push(url, init, signal.aborted);
      return new Response(JSON.stringify({ result: { data: fullGrant } }));
    },
  });
  expect(await proxied.convert(code)).toEqual(fullGrant);
  expect(seen).toEqual([
    'https://latchkey.example/trpc/grants.convert',
    {
      method: 'POST',
      redirect: 'manual',
      cache: 'no-store',
      body: JSON.stringify({ code }),
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${applicationSecret}`,
        'content-type': 'application/json',
        'user-agent': 'latchkey-client/source',
      },
    },
    false,
  ]);
});

it('uses a global fetch that was replaced after the client was created', async () => {
  const original = globalThis.fetch;
  globalThis.fetch = async () => new Response(JSON.stringify({ result: { data: account } }));
  try {
    expect(await latchkey.account(grantSecret)).toEqual(account);
  } finally {
    globalThis.fetch = original;
  }
  expect(service.requests).toEqual([]);
});
