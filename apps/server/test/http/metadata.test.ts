import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { startTestServer, type TestServer, useServer } from './running-server.ts';

const PUBLIC_URL = 'https://link.example';
const SIGN_IN_URL = 'https://host.example/sign-in';
const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';

const get = async (server: { url: string }, path: string, authorization?: string) =>
  send(server, { method: 'GET', path, authorization });

describeOnAnyStore('with the linking flow on,', (fresh) => {
  const server = useServer(fresh, { PUBLIC_URL, SIGN_IN_URL });

  test('the metadata says how to use the authorization server', async () => {
    await server.service.store.putScope(
      { scope: 'profile.read', title: 'Read', description: null, texts: {}, sensitive: false },
      { most: 200 },
    );
    const { status, json, headers } = await get(server, SERVER);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/json; charset=UTF-8',
      'no-store',
    ]);
    expect(json).toStrictEqual({
      issuer: PUBLIC_URL,
      authorization_endpoint: `${PUBLIC_URL}/oauth/authorize`,
      token_endpoint: `${PUBLIC_URL}/oauth/token`,
      revocation_endpoint: `${PUBLIC_URL}/oauth/revoke`,
      introspection_endpoint: `${PUBLIC_URL}/oauth/introspect`,
      scopes_supported: ['profile.read'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'none',
      ],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${PUBLIC_URL}/docs`,
      ui_locales_supported: ['en', 'de'],
    });
  });

  test('the metadata of /v1 names its authorization server', async () => {
    expect((await get(server, `${RESOURCE}/v1`)).json).toStrictEqual({
      resource: `${PUBLIC_URL}/v1`,
      authorization_servers: [PUBLIC_URL],
      bearer_methods_supported: ['header'],
      scopes_supported: (await get(server, SERVER)).json.scopes_supported,
      resource_documentation: `${PUBLIC_URL}/docs`,
    });
  });

  test('the challenges on /v1 lead to it, and no others do', async () => {
    const metadata = `resource_metadata="${PUBLIC_URL}${RESOURCE}/v1"`;
    const challenge = async (path: string, authorization?: string) =>
      (await get(server, path, authorization)).headers.get('www-authenticate');
    const realm = 'Bearer realm="latchkey"';
    const grant = await (await linkedApplication(server)).link();
    for (const path of ['/v1/account', '/v1/grant']) {
      expect(await challenge(path)).toBe(`${realm}, ${metadata}`);
      expect(await challenge(path, 'x')).toBe(`${realm}, error="invalid_token", ${metadata}`);
      expect(await challenge(path, asBearer(grant))).toBeNull();
    }
    expect(await challenge('/admin/applications')).toBe(realm);
    expect(await challenge('/trpc/account.get')).toBe(realm);
  });
});

describeOnAnyStore('where PUBLIC_URL has a path,', (fresh) => {
  const base = `${PUBLIC_URL}/a/b`;
  const server = useServer(fresh, { PUBLIC_URL: `${base}/`, SIGN_IN_URL });

  test('the metadata is also where the RFCs look for it', async () => {
    for (const path of [SERVER, `${SERVER}/a/b`]) {
      expect((await get(server, path)).json).toMatchObject({
        issuer: base,
        token_endpoint: `${base}/oauth/token`,
      });
    }
    for (const path of [`${RESOURCE}/v1`, `${RESOURCE}/a/b/v1`]) {
      expect((await get(server, path)).json.resource).toBe(`${base}/v1`);
    }
    expect((await get(server, `${SERVER}/a`)).status).toBe(404);
  });
});

describeOnAnyStore('with the linking flow off,', (fresh) => {
  const server = useServer(fresh, { PUBLIC_URL });
  let sibling: TestServer;
  beforeAll(async () => {
    sibling = await startTestServer(server.database.url);
  });
  afterAll(() => sibling.close());

  test.each([SERVER, `${RESOURCE}/v1`])('there is no %s', async (path) => {
    for (const target of [server, sibling]) {
      const { status, json } = await get(target, path);
      expect([status, json.error_code]).toEqual([404, 'route_not_found']);
    }
  });

  test('the challenge on /v1 is as it was', async () => {
    const { headers } = await get(server, '/v1/account');
    expect(headers.get('www-authenticate')).toBe('Bearer realm="latchkey"');
  });

  test('a code of the operator goes through /oauth/token all the same', async () => {
    const linked = await linkedApplication(server);
    const { code } = await linked.issue();
    const { status } = await send(server, {
      ...{ method: 'POST', path: '/oauth/token', authorization: linked.bearer },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'authorization_code', code }),
    });
    expect(status).toBe(200);
  });
});
