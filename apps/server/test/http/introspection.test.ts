import { DomainError } from '@latchkey/domain/domain-error';
import { objects } from '@latchkey/schema';
import { expect, test, vi } from 'vitest';
import { type HttpResponse, invoke, JSON_TYPE, send, succeed } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { confidentialMethods, postForm } from './forms.ts';
import { ADA, asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

const INACTIVE = '{"active":false}';

describeOnAnyStore('POST /oauth/introspect', (fresh) => {
  const server = useServer(fresh);
  const introspect = (
    by: LinkedApplication,
    token: string,
    target = server,
  ): Promise<HttpResponse> =>
    postForm(
      target,
      '/oauth/introspect',
      { token, token_type_hint: 'refresh_token' },
      confidentialMethods.client_secret_basic(by).authorization,
    );

  test('tells an application about its own grant, over every wire', async () => {
    const linked = await linkedApplication(server);
    const { grant_id, grant_secret: token, created_at } = await linked.link();
    const { account_id } = linked;
    const renamed = { ...ADA, username: 'ada.lovelace', external_id: 'user-4711' };
    await succeed(server, 'admin.accounts.put', { account_id, ...renamed }, operator);
    const expected = {
      active: true,
      scope: 'profile.read email',
      client_id: linked.application_id,
      token_type: 'Bearer',
      sub: account_id,
      username: 'ada.lovelace',
      external_id: 'user-4711',
      choice: null,
      iss: server.url,
      aud: `${server.url}/v1`,
      iat: Math.floor(Date.parse(created_at) / 1000),
      grant_id,
    };
    const { status, json } = await introspect(linked, token);
    expect(status).toBe(200);
    expect(json).toStrictEqual(expected);
    expect(objects.introspection.parse(json)).toStrictEqual(expected);
    const overTrpc = await invoke(server, 'tRPC', 'grants.introspect', { token }, linked.bearer);
    expect(overTrpc.body).toStrictEqual(expected);
    const asJson = { method: 'POST', path: '/oauth/introspect', headers: JSON_TYPE };
    const body = JSON.stringify({ token });
    const response = await send(server, { ...asJson, authorization: linked.bearer, body });
    expect(response.json).toStrictEqual(expected);
  });

  test('names PUBLIC_URL as the issuer', async () => {
    const PUBLIC_URL = 'https://link.example/base';
    const configured = await startTestServer(server.database.url, { PUBLIC_URL });
    const linked = await linkedApplication(server);
    const { grant_secret } = await linked.link();
    const { json } = await introspect(linked, grant_secret, { ...server, url: configured.url });
    expect(json).toMatchObject({ iss: PUBLIC_URL, aud: `${PUBLIC_URL}/v1` });
    await configured.close();
  });

  test('tells a resource server about every grant, and others nothing', async () => {
    const linked = await linkedApplication(server);
    const other = await linkedApplication(server);
    const resourceServer = await linkedApplication(server, { resource_server: true });
    const grant = await linked.link();
    // To be asked about by somebody else is no use of the grant.
    expect((await introspect(other, grant.grant_secret)).text).toBe(INACTIVE);
    const { grant_id } = grant;
    const { grant_secret } = await succeed(server, 'grants.recover', { grant_id }, linked.bearer);
    expect((await introspect(resourceServer, grant_secret)).json).toMatchObject({
      active: true,
      client_id: linked.application_id,
    });
  });

  test('has the same answer for whatever is not active', async () => {
    const linked = await linkedApplication(server);
    const resourceServer = await linkedApplication(server, { resource_server: true });
    const revoked = await linked.link();
    await succeed(server, 'grants.revoke', { grant_id: revoked.grant_id }, linked.bearer);
    const replaced = await linked.link();
    await succeed(server, 'grants.recover', { grant_id: replaced.grant_id }, linked.bearer);
    const paused = await linkedApplication(server);
    const pausedGrant = await paused.link();
    const { application_id } = paused;
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    const erased = await linkedApplication(server);
    const erasedGrant = await erased.link();
    const { account_id } = erased;
    await succeed(server, 'admin.accounts.erase', { account_id }, operator);
    const { code, grant_id } = await linked.issue();
    for (const token of [
      'x',
      linked.secret,
      code,
      unknownCredential('grantSecret'),
      unknownCredential('grantSecret', grant_id),
      revoked.grant_secret,
      replaced.grant_secret,
      pausedGrant.grant_secret,
      erasedGrant.grant_secret,
    ]) {
      for (const by of [linked, resourceServer]) {
        const { status, text } = await introspect(by, token);
        expect([status, text]).toEqual([200, INACTIVE]);
      }
    }
  });

  test('that finds the grant active is its first use, on disk before the answer', async () => {
    const sibling = await startTestServer(server.database.url);
    const linked = await linkedApplication(server);
    const { grant_id, grant_secret } = await linked.link();
    const { headers } = await introspect(linked, grant_secret);
    const recovered = await invoke(sibling, 'REST', 'grants.recover', { grant_id }, linked.bearer);
    expect(recovered.body.error_code).toBe('grant_not_recoverable');
    const history = await server.service.store.findGrantHistory(grant_id);
    expect(history).toMatchObject({
      first_used_by: { by: 'application', request_id: headers.get('x-request-id') },
    });
    await sibling.close();
  });

  test('goes on while the log can’t be written, since it changes nothing', async ({
    onTestFinished,
  }) => {
    const linked = await linkedApplication(server);
    const { grant_id, grant_secret } = await linked.link();
    const failing = vi.spyOn(server.service.audit, 'beforeChange').mockImplementation(() => {
      throw new DomainError('store_unavailable');
    });
    onTestFinished(() => failing.mockRestore());
    expect((await introspect(linked, grant_secret)).json.active).toBe(true);
    const revoked = await invoke(server, 'REST', 'grants.revoke', { grant_id }, linked.bearer);
    expect(revoked.status).toBe(503);
  });

  test('finds a grant inactive from the answer to its revocation on, on every server', async () => {
    const sibling = await startTestServer(server.database.url);
    const linked = await linkedApplication(server);
    const grant = await linked.link();
    const { grant_secret: token } = grant;
    expect((await introspect(linked, token, { ...server, url: sibling.url })).json.active).toBe(
      true,
    );
    const { authorization } = confidentialMethods.client_secret_basic(linked);
    await postForm(server, '/oauth/revoke', { token }, authorization);
    expect((await introspect(linked, token, { ...server, url: sibling.url })).text).toBe(INACTIVE);
    expect((await invoke(sibling, 'REST', 'account.get', {}, asBearer(grant))).status).toBe(401);
    await sibling.close();
  });
});
