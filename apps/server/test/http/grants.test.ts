import { randomUUID } from 'node:crypto';
import { slow } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { invoke, requestOf, send, succeed, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { asBasic, asBearer, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

describeOnEachStore('a grant', (fresh) => {
  const server = useServer(fresh);
  const statusOf = async (authorization: string) => {
    const responses = await Promise.all(
      wires.flatMap((wire) =>
        (['account.get', 'account.grant'] as const).map((name) =>
          invoke(server, wire, name, {}, authorization),
        ),
      ),
    );
    const [status, ...others] = new Set(responses.map((response) => response.status));
    expect(others).toEqual([]);
    return status;
  };

  test('is refused with Bearer and Basic on every server once it is revoked', async () => {
    const sibling = await startTestServer(server.database.url);
    for (const name of ['grants.revoke', 'admin.grants.revoke'] as const) {
      const linked = await linkedApplication(server);
      const grant = await linked.link();
      const basicInCapitals = `Basic ${btoa(`${grant.grant_id.toUpperCase()}:${grant.grant_secret}`)}`;
      const headers = [asBearer(grant), asBasic(grant), basicInCapitals];
      for (const header of headers) expect(await statusOf(header)).toBe(200);
      expect((await invoke(sibling, 'REST', 'account.get', {}, asBearer(grant))).status).toBe(200);
      const as = name === 'grants.revoke' ? linked.bearer : operator;
      await succeed(server, name, { grant_id: grant.grant_id }, as);
      for (const header of headers) expect(await statusOf(header)).toBe(401);
      const there = await invoke(sibling, 'REST', 'account.get', {}, asBearer(grant));
      expect(there.body).toMatchObject({
        error: 'invalid_token',
        error_code: 'credentials_invalid',
      });
    }
    await sibling.close();
  });

  test('can be revoked again, with the same bytes in the response', async () => {
    const { link, bearer } = await linkedApplication(server);
    const { grant_id } = await link();
    const revoke = async () => {
      const request = requestOf('REST', 'grants.revoke', { grant_id });
      const { status, text } = await send(server, { ...request, authorization: bearer });
      server.advance(60_000);
      return { status, text };
    };
    const first = await revoke();
    expect(first.status).toBe(200);
    expect(await revoke()).toEqual(first);
    server.advance(365 * 86_400_000);
    expect(await revoke()).toEqual(first);
  });

  test('stays valid if another application tries to revoke or recover it', async () => {
    const own = await linkedApplication(server);
    const other = await linkedApplication(server);
    const grant = await own.link();
    const { grant_id } = grant;
    const attempts = (['grants.revoke', 'grants.recover'] as const).flatMap((name) =>
      [grant_id, randomUUID()].map((id) =>
        invoke(server, 'REST', name, { grant_id: id }, other.bearer),
      ),
    );
    const texts = (await Promise.all(attempts)).map(({ status, text, body }) => {
      expect(status).toBe(404);
      return text.replace(body.request_id, '');
    });
    // Another application's grant and an unknown one get the same response.
    expect(new Set(texts).size).toBe(1);
    expect(await statusOf(asBearer(grant))).toBe(200);
  });

  test('can’t be recovered once it is revoked', async () => {
    const { link, bearer } = await linkedApplication(server);
    const { grant_id } = await link();
    await succeed(server, 'grants.revoke', { grant_id }, bearer);
    const { status, body } = await invoke(server, 'REST', 'grants.recover', { grant_id }, bearer);
    expect([status, body.error_code]).toEqual([404, 'grant_not_found']);
    // Revoking again is not a use of the grant and does not restore it.
    await succeed(server, 'grants.revoke', { grant_id }, bearer);
  });

  test.each(wires)('can be recovered repeatedly within 10 minutes, over %s', async (wire) => {
    const { link, bearer } = await linkedApplication(server);
    const grant = await link();
    const { grant_id } = grant;
    const recover = () => invoke(server, wire, 'grants.recover', { grant_id }, bearer);
    server.advance(300_000);
    const second = (await recover()).body;
    server.advance(299_999);
    const third = (await recover()).body;
    expect({ ...third, grant_secret: '' }).toStrictEqual({ ...grant, grant_secret: '' });
    server.advance(1);
    const { status, body } = await recover();
    expect([status, body.error_code]).toEqual([409, 'grant_not_recoverable']);
    // The failed call changed nothing: only the last secret works.
    expect(await statusOf(asBearer(grant))).toBe(401);
    expect(await statusOf(asBearer(second))).toBe(401);
    expect(await statusOf(asBearer(third))).toBe(200);
  });

  test.each([
    ['GET', asBearer],
    ['GET', asBasic],
    ['HEAD', asBearer],
  ] as const)('can’t be recovered after its first use, by %s', async (method, as) => {
    const { link, bearer } = await linkedApplication(server);
    const grant = await link();
    const { grant_id } = grant;
    const recover = () => invoke(server, 'REST', 'grants.recover', { grant_id }, bearer);
    // None of these requests authenticates with the grant.
    const wrong = { ...grant, grant_id: randomUUID() };
    expect(await statusOf(asBasic(wrong))).toBe(401);
    await send(server, { method: 'POST', path: '/v1/account', authorization: as(grant) });
    await send(server, { method: 'GET', path: '/v1/nothing', authorization: as(grant) });
    const recovered = await recover();
    expect(recovered.status).toBe(200);

    const path = '/v1/grant';
    await send(server, { method, path, authorization: as(recovered.body) });
    const late = await recover();
    expect([late.status, late.body.error_code]).toEqual([409, 'grant_not_recoverable']);
    expect(await statusOf(as(recovered.body))).toBe(200);
  });

  test('is either used or recovered if both happen concurrently', slow, async () => {
    for (let round = 0; round < 4; round++) {
      const { link, bearer } = await linkedApplication(server);
      const grant = await link();
      const [used, recovered] = await Promise.all([
        invoke(server, 'REST', 'account.grant', {}, asBearer(grant)),
        invoke(server, 'REST', 'grants.recover', { grant_id: grant.grant_id }, bearer),
      ]);
      expect([used.status, recovered.status]).toEqual(
        used.status === 200 ? [200, 409] : [401, 200],
      );
    }
  });
});
