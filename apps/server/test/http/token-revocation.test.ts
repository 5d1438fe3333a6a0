import { randomUUID } from 'node:crypto';
import { anInitiator } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { invoke, JSON_TYPE, send, succeed } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { confidentialMethods, postForm, publicMethods, tokenRequest } from './forms.ts';
import { asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

const basicOf = (linked: LinkedApplication) =>
  confidentialMethods.client_secret_basic(linked).authorization;

describeOnAnyStore('POST /oauth/revoke with a token', (fresh) => {
  const server = useServer(fresh);
  const revokeForm = (linked: LinkedApplication, fields: Record<string, string>) =>
    postForm(server, '/oauth/revoke', fields, basicOf(linked));
  const revokeJson = (linked: LinkedApplication, body: object) =>
    send(server, {
      ...{ method: 'POST', path: '/oauth/revoke', headers: JSON_TYPE },
      authorization: linked.bearer,
      body: JSON.stringify(body),
    });
  const statusOf = async (target: { url: string }, grant: Parameters<typeof asBearer>[0]) =>
    (await invoke(target, 'REST', 'account.get', {}, asBearer(grant))).status;

  test('ends the grant for every later request, on every server', async () => {
    const sibling = await startTestServer(server.database.url);
    const linked = await linkedApplication(server);
    for (const call of [
      (token: string) => revokeForm(linked, { token, token_type_hint: 'access_token' }),
      (token: string) => revokeForm(linked, { token, token_type_hint: 'refresh_token' }),
      (token: string) => revokeJson(linked, { token }),
      (token: string) =>
        invoke(server, 'tRPC', 'grants.revokeToken', { token }, linked.bearer).then(
          ({ body, ...response }) => ({ ...response, json: body }),
        ),
    ]) {
      const grant = await linked.link();
      expect(await statusOf(sibling, grant)).toBe(200);
      const { status, json } = await call(grant.grant_secret);
      expect([status, json]).toEqual([200, {}]);
      expect([await statusOf(sibling, grant), await statusOf(server, grant)]).toEqual([401, 401]);
      expect((await call(grant.grant_secret)).json).toEqual({});
      const { grant_id } = grant;
      const native = await succeed(server, 'grants.revoke', { grant_id }, linked.bearer);
      expect(native).toMatchObject({ grant_id, revoked: true });
    }
    await sibling.close();
  });

  test('of anything that is no active grant changes nothing', async () => {
    const linked = await linkedApplication(server);
    const recovered = await linked.link();
    const { grant_id } = recovered;
    const current = await succeed(server, 'grants.recover', { grant_id }, linked.bearer);
    const pending = await linked.issue();
    for (const token of [
      'x',
      'lk_grant_x',
      unknownCredential('grantSecret'),
      unknownCredential('grantSecret', grant_id),
      recovered.grant_secret,
      pending.code,
      linked.secret,
      grant_id,
    ]) {
      expect((await revokeForm(linked, { token })).json).toEqual({});
      expect((await revokeJson(linked, { token })).json).toEqual({});
    }
    expect(await statusOf(server, current)).toBe(200);
    expect((await linked.convert(pending.code)).revoked).toBe(false);
  });

  test('of another application is refused, and its grant goes on', async () => {
    const other = await linkedApplication(server);
    const grant = await other.link();
    const linked = await linkedApplication(server);
    const { status, json } = await revokeForm(linked, { token: grant.grant_secret });
    expect([status, json.error_code]).toEqual([400, 'token_of_another_application']);
    expect(await statusOf(server, grant)).toBe(200);
    // It says nothing of a token that is dead.
    await revokeForm(other, { token: grant.grant_secret });
    expect((await revokeForm(linked, { token: grant.grant_secret })).json).toEqual({});
  });

  test('takes exactly one of token and grant_id, and a form only a token', async () => {
    const linked = await linkedApplication(server);
    const { grant_id, grant_secret: token } = await linked.link();
    const refused = [
      await revokeJson(linked, {}),
      await revokeJson(linked, { token, grant_id }),
      await revokeForm(linked, {}),
      await revokeForm(linked, { token, grant_id }),
      await revokeForm(linked, { grant_id }),
    ];
    expect(refused.map(({ status, json }) => [status, json.error_code])).toEqual(
      refused.map(() => [400, 'parameter_invalid']),
    );
    expect((await revokeJson(linked, { grant_id })).json).toMatchObject({
      grant_id,
      revoked: true,
    });
  });

  test('by a public application takes the token: to know the id is not enough', async () => {
    const linked = await linkedApplication(server, { public: true });
    const client_id = linked.application_id;
    const { code } = await linked.issue();
    const { json } = await postForm(server, '/oauth/token', { ...tokenRequest(code), client_id });
    const { authorization } = publicMethods['Basic with an empty password'](linked);
    const { grant_id } = json.grant;
    const byId = await send(server, {
      ...{ method: 'POST', path: '/oauth/revoke', headers: JSON_TYPE, authorization },
      body: JSON.stringify({ grant_id }),
    });
    expect([byId.status, byId.json.error_code]).toEqual([400, 'parameter_invalid']);
    expect(byId.json.issues).toEqual([
      { path: ['grant_id'], message: 'A public application has to send token instead.' },
    ]);
    expect(byId.headers.get('www-authenticate')).toBeNull();
    expect(await statusOf(server, json.grant)).toBe(200);
    const byToken = await postForm(server, '/oauth/revoke', {
      token: json.access_token,
      client_id,
    });
    expect([byToken.status, byToken.json]).toEqual([200, {}]);
    expect(await statusOf(server, json.grant)).toBe(401);
  });

  test('of the grant of a deleted application changes nothing', async () => {
    const other = await linkedApplication(server);
    const { grant_secret: token } = await other.link();
    const { application_id } = other;
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    const linked = await linkedApplication(server);
    // It is paused, not dead.
    expect((await revokeForm(linked, { token })).json.error_code).toBe(
      'token_of_another_application',
    );
    const deletion = { application_id, deleted_at: server.now(), deleted_by: anInitiator() };
    await server.service.store.deleteApplication(deletion);
    expect((await revokeForm(linked, { token })).json).toEqual({});
    expect((await revokeForm(linked, { token: randomUUID() })).json).toEqual({});
  });
});
