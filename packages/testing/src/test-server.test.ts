import { once } from 'node:events';
import http from 'node:http';
import {
  AuthenticationError,
  CodeAlreadyUsedError,
  CodeExpiredError,
  ConnectionError,
  Latchkey,
  RateLimitedError,
  UnavailableError,
} from '@latchkey/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestServer, type TestServer } from './index.ts';

const SECOND = 1_000;

let server: TestServer;
/** One request a call, so that each is seen. */
let latchkey: Latchkey;

beforeAll(async () => {
  server = await createTestServer();
  latchkey = new Latchkey({ ...server, maxRetries: 0 });
});
afterAll(() => server.close());

/** A call over REST, as an application without the SDK makes it. */
function post(path: string, body: object): Promise<Response> {
  return fetch(server.baseUrl + path, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${server.applicationSecret}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(body),
  });
}

describe('the clock', () => {
  test('stands still, and is the one by which a code lives and a grant is made', async () => {
    const { code, expires_at } = await server.issueCode();
    expect(Date.parse(expires_at)).toBe(server.now() + 300 * SECOND);
    server.advance(300 * SECOND - 1);
    const { created_at } = await latchkey.convert(code);
    expect(Date.parse(created_at)).toBe(server.now());
  });

  test('moves to where every code has expired, and no further', async () => {
    const first = await server.issueCode();
    server.advance(10 * SECOND);
    const last = await server.issueCode();
    server.expire();
    expect(server.now()).toBe(Date.parse(last.expires_at));
    for (const { code } of [first, last]) {
      await expect(latchkey.convert(code)).rejects.toThrow(CodeExpiredError);
    }
    server.expire();
    expect(server.now()).toBe(Date.parse(last.expires_at));
    await latchkey.convert((await server.issueCode()).code);
  });

  test.each([-1, 0.5, Number.NaN])('does not move by %d', (milliseconds) => {
    expect(() => server.advance(milliseconds)).toThrow(RangeError);
  });
});

describe('an answer that is dropped', () => {
  test('comes after the work, and is the only one', async () => {
    const { code, grant_id } = await server.issueCode();
    server.dropNextAnswer();
    await expect(latchkey.convert(code)).rejects.toThrow(ConnectionError);
    const error = await latchkey.convert(code).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CodeAlreadyUsedError);
    expect(error).toMatchObject({ grant_id });
  });

  test('is that of the operation named, on either wire', async () => {
    const { code, grant_id } = await server.issueCode();
    server.dropNextAnswer('grants.revoke');
    const { grant_secret } = await latchkey.convert(code);
    await expect(post('/oauth/revoke', { grant_id })).rejects.toThrow('fetch failed');
    await expect(latchkey.account(grant_secret)).rejects.toThrow(AuthenticationError);
    server.dropNextAnswer('grants.revoke');
    await expect(latchkey.revoke(grant_id)).rejects.toThrow(ConnectionError);
    expect((await post('/oauth/revoke', { grant_id })).status).toBe(200);
  });

  test('may be a refusal, and is not that of a call that never got so far', async () => {
    server.dropNextAnswer();
    expect((await post('/oauth/convert', {})).status).toBe(400);
    await expect(post('/oauth/convert', { code: 'no code' })).rejects.toThrow('fetch failed');
    expect((await post('/oauth/convert', { code: 'no code' })).status).toBe(400);
  });
});

describe('a call that fails', () => {
  const failures = [
    ['store_unavailable', UnavailableError, 503],
    ['rate_limited', RateLimitedError, 429],
  ] as const;
  test.each(failures)('with %s: nothing is done', async (failure, errorClass, status) => {
    const { code } = await server.issueCode();
    server.failNext(failure);
    server.failNext(failure, 'grants.convert');
    const error = await latchkey.convert(code).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ errorCode: failure, retryAfter: 1 });
    const response = await post('/oauth/convert', { code });
    expect(response.status).toBe(status);
    expect(response.headers.get('Retry-After')).toBe('1');
    expect(response.headers.has('RateLimit-Limit')).toBe(failure === 'rate_limited');
    await latchkey.convert(code);
  });
});

describe('an account', () => {
  test('is that of its username, and keeps what is not given', async () => {
    const ada = await server.putAccount();
    expect(ada).toMatchObject({ username: 'ada', display_name: 'Ada Lovelace', verified: true });
    const { code } = await server.issueCode({ account: { username: 'bob', supporter: true } });
    const { account: bob, grant_secret } = await latchkey.convert(code);
    expect(bob).toMatchObject({ display_name: 'bob', supporter: true, verified: false });
    expect(bob.id).not.toBe(ada.id);
    const renamed = await server.putAccount({ id: bob.id, username: 'robert' });
    expect(renamed).toEqual({ ...bob, username: 'robert' });
    expect(await latchkey.account(grant_secret)).toEqual(renamed);
    expect(await server.putAccount({ username: 'robert' })).toEqual(renamed);
  });

  test('has the scope that it is told', async () => {
    const { code } = await server.issueCode({ scope: 'profile.read posts.write' });
    expect((await latchkey.convert(code)).scope).toBe('profile.read posts.write');
  });
});

describe('a mistake in a test is told', () => {
  const mistakes = {
    'a scope': [() => server.issueCode({ scope: '' }), 'scope: Must be scope tokens'],
    'an account': [() => server.putAccount({ username: '' }), 'username: Must be 1 to 200'],
    'a grant that is none yet': [
      async () => server.revoke((await server.issueCode()).grant_id),
      'A code becomes a grant',
    ],
    'a server that is closed': [
      async () => {
        const closed = await createTestServer();
        await closed.close();
        return closed.issueCode();
      },
      'This test server is closed',
    ],
  } as const;
  test.each(Object.entries(mistakes))('%s', async (_, [make, message]) => {
    await expect(make()).rejects.toThrow(message);
  });
});

test('servers beside each other share nothing, and leave nothing behind', async () => {
  const kept: string[] = [];
  {
    await using one = await createTestServer();
    await using other = await createTestServer();
    kept.push(one.baseUrl, other.baseUrl);
    const { code } = await one.issueCode();
    other.expire();
    other.advance(1_000 * SECOND);
    other.failNext('store_unavailable');
    await expect(
      new Latchkey({ ...one, applicationSecret: other.applicationSecret }).convert(code),
    ).rejects.toThrow(AuthenticationError);
    await new Latchkey(one).convert(code);
    await one.close();
  }
  for (const url of kept) await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
});

test('close cuts off what is under way', async () => {
  const short = await createTestServer();
  const request = http.request(`${short.baseUrl}/oauth/convert`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${short.applicationSecret}`,
      'Content-Type': 'application/json',
      Expect: '100-continue',
    },
  });
  request.flushHeaders();
  // Then the server waits for a body, and no longer than it is told to.
  await once(request, 'continue');
  const cut = expect(once(request, 'response')).rejects.toThrow('socket hang up');
  await short.close();
  await cut;
});
