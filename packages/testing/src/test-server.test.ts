import { once } from 'node:events';
import http from 'node:http';
import {
  ApplicationDisabledError,
  AuthenticationError,
  CodeAlreadyUsedError,
  CodeExpiredError,
  CodeNotFoundError,
  ConnectionError,
  Latchkey,
  LinkDeniedError,
  RateLimitedError,
  UnavailableError,
} from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { requireGrant } from '@latchkey/client/guards';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestServer, type TestServer } from './index.ts';

const SECOND = 1_000;

let server: TestServer;
/** Without retries, so that each call is one request. */
let latchkey: Latchkey;

beforeAll(async () => {
  server = await createTestServer();
  latchkey = new Latchkey({ ...server, maxRetries: 0 });
});
afterAll(() => server.close());

/** Sends a REST request, as an application without the SDK does. */
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
  test('stands still, and decides the life of a code and the date of a grant', async () => {
    const { code, expires_at } = await server.issueCode();
    expect(Date.parse(expires_at)).toBe(server.now() + 300 * SECOND);
    server.advance(300 * SECOND - 1);
    const { created_at } = await latchkey.convert(code);
    expect(Date.parse(created_at)).toBe(server.now());
  });

  test('moves to the time when every code has expired, and no further', async () => {
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

  test.each([-1, 0.5, Number.NaN])('cannot be moved by %d', (milliseconds) => {
    expect(() => server.advance(milliseconds)).toThrow(RangeError);
  });
});

describe('a dropped response', () => {
  test('is dropped after the work, and only once', async () => {
    const { code, grant_id } = await server.issueCode();
    server.dropNextAnswer();
    await expect(latchkey.convert(code)).rejects.toThrow(ConnectionError);
    const error = await latchkey.convert(code).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CodeAlreadyUsedError);
    expect(error).toMatchObject({ grant_id });
  });

  test('belongs to the named operation, over REST and tRPC', async () => {
    const { code, grant_id } = await server.issueCode();
    server.dropNextAnswer('grants.revoke');
    const { grant_secret } = await latchkey.convert(code);
    await expect(post('/oauth/revoke', { grant_id })).rejects.toThrow('fetch failed');
    await expect(latchkey.account(grant_secret)).rejects.toThrow(AuthenticationError);
    server.dropNextAnswer('grants.revoke');
    await expect(latchkey.revoke(grant_id)).rejects.toThrow(ConnectionError);
    expect((await post('/oauth/revoke', { grant_id })).status).toBe(200);
  });

  test('may be an error, and does not belong to a call that was refused earlier', async () => {
    server.dropNextAnswer();
    expect((await post('/oauth/convert', {})).status).toBe(400);
    await expect(post('/oauth/convert', { code: 'no code' })).rejects.toThrow('fetch failed');
    expect((await post('/oauth/convert', { code: 'no code' })).status).toBe(400);
  });
});

describe('a failing call', () => {
  const failures = [
    ['store_unavailable', UnavailableError, 503],
    ['rate_limited', RateLimitedError, 429],
  ] as const;
  test.each(failures)('does nothing and fails with %s', async (failure, errorClass, status) => {
    const { code } = await server.issueCode();
    server.failNext(failure);
    server.failNext(failure, 'grants.convert');
    const error = await latchkey.convert(code).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ error_code: failure, retry_after: 1 });
    const response = await post('/oauth/convert', { code });
    expect(response.status).toBe(status);
    expect(response.headers.get('Retry-After')).toBe('1');
    expect(response.headers.has('RateLimit-Limit')).toBe(failure === 'rate_limited');
    await latchkey.convert(code);
  });
});

test('a disabled application is refused, and its grants work when it is enabled', async () => {
  const { grant_id, grant_secret } = await latchkey.convert((await server.issueCode()).code);
  const { code } = await server.issueCode();
  await server.disable();
  await expect(latchkey.account(grant_secret)).rejects.toThrow(ApplicationDisabledError);
  const response = await post('/oauth/convert', { code });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ error_code: 'application_disabled' });
  await server.disable();

  await server.enable();
  // The refused call was no use of the grant.
  expect(await latchkey.recover(grant_id)).toMatchObject({ grant_id });
  await expect(latchkey.convert(code)).rejects.toThrow(CodeNotFoundError);
  await latchkey.convert((await server.issueCode()).code);
});

describe('an account', () => {
  test('is found by its username, and keeps the members that are not given', async () => {
    const ada = await server.putAccount();
    expect(ada).toMatchObject({ username: 'ada', display_name: 'Ada Lovelace', verified: true });
    const { code } = await server.issueCode({ account: { username: 'bob', supporter: true } });
    const { account: bob, grant_secret } = await latchkey.convert(code);
    expect(bob).toMatchObject({ display_name: 'bob', supporter: true, verified: false });
    expect(bob.id).not.toBe(ada.id);
    const renamed = await server.putAccount({ id: bob.id, username: 'robert' });
    expect(renamed).toEqual({ ...bob, username: 'robert', external_id: null });
    const { external_id: _, ...seen } = renamed;
    expect(await latchkey.account(grant_secret)).toEqual(seen);
    expect(await server.putAccount({ username: 'robert' })).toEqual(renamed);
  });

  test('is linked with the given scope', async () => {
    const { code } = await server.issueCode({ scope: 'profile.read posts.write' });
    expect((await latchkey.convert(code)).scope).toBe('profile.read posts.write');
  });
});

describe('a link', () => {
  // A server of their own, because the clock of the other one has moved.
  let linking: TestServer;
  let client: Latchkey;
  beforeAll(async () => {
    linking = await createTestServer({ scopes: ['profile.read', 'photos.read'] });
    client = new Latchkey({ ...linking, maxRetries: 0 });
  });
  afterAll(() => linking.close());

  const redirectUri = 'http://127.0.0.1:4000/callback';
  async function begin(scope = 'profile.read') {
    const { url, ...kept } = await client.authorizationUrl({ redirectUri, scope });
    return { url, finish: (to: string) => client.finishLinking(to, { ...kept, redirectUri }) };
  }

  test('is allowed by the user, for an account and a part of the scope', async () => {
    const { url, finish } = await begin('profile.read photos.read');
    const allowed = await linking.approve(url, {
      account: { username: 'bob' },
      scope: 'photos.read',
    });
    expect(allowed.split('?')[0]).toBe(redirectUri);
    expect(await finish(allowed)).toMatchObject({
      scope: 'photos.read',
      account: { username: 'bob' },
    });
  });

  test('is denied by the user', async () => {
    const { url, finish } = await begin();
    await expect(finish(await linking.deny(url))).rejects.toThrow(LinkDeniedError);
  });

  test('takes too long', async () => {
    const { url, finish } = await begin();
    const allowed = await linking.approve(url);
    linking.expire();
    await expect(finish(allowed)).rejects.toThrow(CodeExpiredError);
  });

  test('is refused by the service', async () => {
    const { url, finish } = await begin('posts.write');
    const refused = finish(await linking.approve(url));
    await expect(refused).rejects.toMatchObject({ error_code: 'scope_unknown' });
  });

  test('leads to the sign-in page of a host, which has the admin secret', async () => {
    await using host = await createTestServer({ signInUrl: 'http://127.0.0.1:4001/sign-in' });
    const { url } = await new Latchkey(host).authorizationUrl({
      redirectUri,
      scope: 'profile.read',
    });
    const location = (await fetch(url, { redirect: 'manual' })).headers.get('Location') ?? '';
    expect(location).toMatch(/^http:\/\/127\.0\.0\.1:4001\/sign-in\?link=lk_link_/);
    const { adminSecret, baseUrl } = host;
    const admin = new LatchkeyAdmin({ adminSecret, baseUrl });
    const link = new URL(location).searchParams.get('link') as string;
    expect(await admin.links.read({ link })).toMatchObject({ status: 'open' });
    expect({ ...host }).not.toHaveProperty('adminSecret');
  });
});

test('a client registers itself, and its user allows a link', async () => {
  const redirect_uri = 'http://127.0.0.1:51004/callback';
  const registered = await post('/oauth/register', { redirect_uris: [redirect_uri] });
  const { client_id } = (await registered.json()) as { client_id: string };
  const code_verifier = 'v'.repeat(43);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code_verifier));
  const asked = new URLSearchParams({
    ...{ client_id, redirect_uri, response_type: 'code', scope: 'profile.read' },
    code_challenge: Buffer.from(digest).toString('base64url'),
    code_challenge_method: 'S256',
  });
  const callback = await server.approve(`${server.baseUrl}/oauth/authorize?${asked}`);
  const code = new URL(callback).searchParams.get('code') ?? '';
  const redeemed = await fetch(`${server.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, client_id, redirect_uri, code_verifier },
    }),
  });
  expect(redeemed.status).toBe(200);
});

test('the settings in force are those of this server, without its secret', async () => {
  const admin = new LatchkeyAdmin({ baseUrl: server.baseUrl, adminSecret: server.adminSecret });
  const { data } = await admin.settings.get();
  const values = Object.fromEntries(data.map(({ name, value }) => [name, value]));
  expect(values).toMatchObject({
    ...{ PORT: new URL(server.baseUrl).port, PUBLIC_URL: server.baseUrl, RATE_LIMIT: 'off' },
    ...{ ADMIN_SECRET: null },
  });
});

test('a resource is what a grant is for, and no other guard accepts it', async () => {
  await using own = await createTestServer();
  const client = new Latchkey({ ...own, maxRetries: 0 });
  const admin = new LatchkeyAdmin({ baseUrl: own.baseUrl, adminSecret: own.adminSecret });
  const [resource, other] = ['https://notes.example/mcp', 'https://photos.example/mcp'] as const;
  for (const each of [resource, other]) {
    await admin.resources.create({ resource: each, name: 'Notes' });
  }
  const { code } = await own.issueCode({ resource });
  const { grant_secret } = await client.convert(code);
  const request = () =>
    new Request(resource, { headers: { Authorization: `Bearer ${grant_secret}` } });
  const guarded = (at: { resource?: string }) =>
    requireGrant(request(), { latchkey: client, ...at });
  expect(await guarded({ resource })).toMatchObject({ resource });
  for (const at of [{ resource: other }, {}]) {
    await expect(guarded(at)).rejects.toMatchObject({ body: { error_code: 'resource_mismatch' } });
  }
});

test('an operator reads connections page by page, and what ends all of an account says how far it is', async () => {
  await using own = await createTestServer();
  const client = new Latchkey({ ...own, maxRetries: 0 });
  const admin = new LatchkeyAdmin({ baseUrl: own.baseUrl, adminSecret: own.adminSecret });
  const { code, grant_id } = await own.issueCode();
  const { account, grant_secret } = await client.convert(code);
  const account_id = account.id;
  const other = await admin.applications.create({ name: 'Other', redirect_uris: [] });
  const issued = { application_id: other.id, account_id, scope: 'profile.read' };
  const otherCode = await admin.codes.issue(issued);
  await new Latchkey({ ...own, applicationSecret: other.secret ?? '' }).convert(otherCode.code);

  const page = await admin.connections.list({ account_id, limit: 1 });
  expect(page).toMatchObject({ data: [{ grants_total: 1 }], next_cursor: expect.any(String) });
  const names: string[] = [];
  for await (const { application } of admin.connections.list({ account_id, limit: 1 })) {
    names.push(application.name);
  }
  expect([names.length, names]).toEqual([2, names.toSorted()]);

  const { application_id } = (await admin.grants.list({ account_id })).data.find(
    (grant) => grant.grant_id === grant_id,
  ) as { application_id: string };
  expect(await admin.connections.revoke({ account_id, application_id })).toMatchObject({
    ...{ data: [{ grant_id }], state: 'revoked' },
  });
  await expect(client.account(grant_secret)).rejects.toThrow(AuthenticationError);
  const all = { state: 'revoked', grants_revoked: 1, codes_cancelled: 0 };
  expect(await admin.grants.revokeAll({ account_id })).toMatchObject(all);
  expect(await admin.accounts.erase({ account_id })).toMatchObject({ state: 'erased' });
});

test('a pinned document lets in an application that nobody registered', async () => {
  await using own = await createTestServer();
  const client_id = 'https://app.example/client.json';
  const redirect_uri = 'http://127.0.0.1/callback';
  const { code_challenge, code_verifier } = await pkce();
  const url = `${own.baseUrl}/oauth/authorize?${new URLSearchParams({
    ...{ client_id, redirect_uri, code_challenge, response_type: 'code', scope: 'profile.read' },
    code_challenge_method: 'S256',
  })}`;
  await expect(own.approve(url)).rejects.toThrow('client_unknown');
  const document = { client_id, redirect_uris: [redirect_uri] };
  await own.documents.pin({ document_uri: client_id, document });
  const code = new URL(await own.approve(url)).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier };
  const body = new URLSearchParams(form);
  const { status } = await fetch(`${own.baseUrl}/oauth/token`, { method: 'POST', body });
  expect(status).toBe(200);

  expect(await own.documents.list({ pinned: true })).toMatchObject([
    { document_uri: client_id, application_id: expect.any(String) },
  ]);
  await own.documents.unpin({ document_uri: client_id });
  await expect(own.approve(url)).rejects.toThrow('client_unknown');
});

async function pkce() {
  const code_verifier = 'v'.repeat(43);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code_verifier));
  return { code_verifier, code_challenge: Buffer.from(digest).toString('base64url') };
}

describe('a mistake in a test is explained', () => {
  const mistakes = {
    'a wrong scope': [() => server.issueCode({ scope: '' }), 'scope: Must be scope tokens'],
    'a wrong account': [() => server.putAccount({ username: '' }), 'username: Must be 1 to 200'],
    'a code that was not converted yet': [
      async () => server.revoke((await server.issueCode()).grant_id),
      'Convert the code first',
    ],
    'a redirect URI that is not registered': [
      async () => {
        const redirectUri = 'https://acme.example/back';
        const asked = await latchkey.authorizationUrl({ redirectUri, scope: 'profile.read' });
        return server.approve(asked.url);
      },
      'Pass it to createTestServer({ redirectUris })',
    ],
    'an address of another server': [
      () => server.approve('https://latchkey.example/oauth/authorize'),
      'new Latchkey(server)',
    ],
    'an option that is not valid': [
      () => createTestServer({ redirectUris: ['/callback'] }),
      'redirect_uris.0: Must be',
    ],
    'a closed server': [
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

test('concurrent servers share nothing, and leave nothing behind', async () => {
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

test('close aborts open requests', async () => {
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
  // From now on the server waits for the body.
  await once(request, 'continue');
  const cut = expect(once(request, 'response')).rejects.toThrow('socket hang up');
  await short.close();
  await cut;
});
