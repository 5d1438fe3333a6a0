import { sweep } from '@latchkey/store-suite/finish';
import { expect, test } from 'vitest';
import { invoke, send, succeed } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { startTestServer } from './running-server.ts';

const DAY = 86_400_000;

describeOnEachStore('REVOKED_GRANT_DAYS', (fresh) => {
  test('changes no response to a revocation, and a replayed code is code_expired', async () => {
    const database = await fresh();
    const server = await startTestServer(database.url, { REVOKED_GRANT_DAYS: '1' });
    const { issue, convert, bearer } = await linkedApplication(server);
    const { code } = await issue();
    const grant = await convert(code);
    const { grant_id } = grant;
    const revoked = await succeed(server, 'grants.revoke', { grant_id }, bearer);
    server.advance(DAY);
    await sweep(server.service.store, server.service.clock());

    expect(await server.service.store.findCode(grant_id)).toBeNull();
    expect(await succeed(server, 'grants.revoke', { grant_id }, bearer)).toEqual(revoked);
    const replay = await invoke(server, 'REST', 'grants.convert', { code }, bearer);
    expect(replay).toMatchObject({ status: 400, body: { error_code: 'code_expired' } });
    const path = '/v1/grant';
    expect(
      (await send(server, { method: 'GET', path, authorization: asBearer(grant) })).status,
    ).toBe(401);
    await server.close();
    await database.remove();
  });
});
