import { reportGrant } from '@latchkey/rules/audit/grant-history';
import type { FullGrant } from '@latchkey/schema';
import { beforeAll, expect, test, vi } from 'vitest';
import { invoke, type Json, send, succeed } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { confidentialMethods, postForm } from './forms.ts';
import { asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, type TestServer, useServer } from './running-server.ts';

const DAY = 86_400_000;

describeOnEachStore('a grant that is not used', (fresh) => {
  const server = useServer(fresh);
  // The service reads the time of the newest code when it starts. Here, there was none yet.
  beforeAll(async () => {
    await (await linkedApplication(server)).issue();
    await server.service.idleGrants.end();
  });

  async function idleAfter(idle_days: number | null): Promise<LinkedApplication> {
    const linked = await linkedApplication(server);
    await setIdleDays(linked, idle_days);
    return linked;
  }
  const setIdleDays = ({ application_id }: LinkedApplication, idle_days: number | null) =>
    succeed(server, 'admin.applications.update', { application_id, idle_days }, operator);
  const statusOf = async (grant: FullGrant, at: TestServer = server) =>
    (await invoke(at, 'REST', 'account.get', {}, asBearer(grant))).status;
  const introspect = async (by: LinkedApplication, { grant_secret: token }: Json) =>
    (
      await postForm(
        server,
        '/oauth/introspect',
        { token },
        confidentialMethods.client_secret_basic(by).authorization,
      )
    ).json;
  const entryOf = async ({ application_id }: LinkedApplication) =>
    (await succeed(server, 'admin.grants.list', { application_id }, operator)).data[0];

  test('is refused once its last use is more than the idle days and one day ago', async () => {
    const linked = await idleAfter(2);
    const grant = await linked.link();
    server.advance(3 * DAY);
    expect(await statusOf(grant)).toBe(200);
    server.advance(3 * DAY);
    expect(await statusOf(grant)).toBe(200);
    server.advance(3 * DAY + 1);
    const { status, body } = await invoke(server, 'REST', 'account.get', {}, asBearer(grant));
    expect([status, body.error_code]).toEqual([401, 'credentials_invalid']);
    expect(await introspect(linked, grant)).toEqual({ active: false });
    // Until housekeeping has ended it, it is listed as live.
    expect(await entryOf(linked)).toMatchObject({ revoked: false, revoked_at: null });
  });

  test('is refused by what the operator has set last', async () => {
    const linked = await idleAfter(null);
    const grant = await linked.link();
    server.advance(40 * DAY);
    expect(await statusOf(grant)).toBe(200);
    server.advance(5 * DAY);
    for (const [idle_days, expected] of [
      [3, 401],
      [4, 200],
      [3650, 200],
      [null, 200],
    ] as const) {
      await setIdleDays(linked, idle_days);
      expect(await statusOf(grant)).toBe(expected);
    }
  });

  test('is not idle while its application is disabled, nor so soon after', async () => {
    const linked = await idleAfter(1);
    const { application_id } = linked;
    const grant = await linked.link();
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    server.advance(100 * DAY);
    expect(await statusOf(grant)).toBe(403);
    await server.service.idleGrants.end();
    await succeed(server, 'admin.applications.enable', { application_id }, operator);
    server.advance(2 * DAY);
    await succeed(server, 'admin.applications.enable', { application_id }, operator);
    await server.service.idleGrants.end();
    expect(await introspect(linked, grant)).toMatchObject({ active: true });
    server.advance(2 * DAY + 1);
    expect(await statusOf(grant)).toBe(401);
  });

  test('ends for good, and the history, the export and the log say why', async () => {
    const linked = await idleAfter(1);
    const { account_id, application_id } = linked;
    const [grant, used] = [await linked.link(), await linked.link()];
    server.advance(2 * DAY);
    await server.service.idleGrants.end();
    expect(await statusOf(used)).toBe(200);
    server.advance(1);
    const { idleGrants, store } = server.service;
    await Promise.all([idleGrants.end(), idleGrants.end()]);
    await setIdleDays(linked, null);
    expect([await statusOf(grant), await statusOf(used)]).toEqual([401, 200]);

    const { grant_id } = grant;
    const report = await reportGrant(store, grant_id);
    const ended = report.data.find(({ what }) => what === 'revoked');
    expect(ended).toMatchObject({ result: 'done', reason: 'idle', by: null, request_id: null });
    const exported = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    expect(exported.history.filter(({ operation }: Json) => operation === 'idle')).toEqual([
      {
        at: ended?.at,
        operation: 'idle',
        by: null,
        key_id: null,
        grant_id,
        application_id,
        request_id: null,
      },
    ]);
    const lines = server.lines.filter((line) => line.includes('"reason":"idle"'));
    expect(
      lines.map((line) => JSON.parse(line)).filter((line) => line.grant_id === grant_id),
    ).toMatchObject([
      { msg: 'audit', action: 'grants.revoke', by: null, application_id, result: 'done' },
    ]);
  });

  test('has the note of a late use on disk before the response', async () => {
    const linked = await idleAfter(2);
    const grant = await linked.link();
    expect(await statusOf(grant)).toBe(200);
    server.advance(DAY + 1);
    const { store } = server.service;
    const noteUse = vi.spyOn(store, 'noteUse').mockRejectedValueOnce(new Error('away'));
    expect(await statusOf(grant)).toBe(500);
    const held = Promise.withResolvers<void>();
    noteUse.mockImplementationOnce(async () => {
      await held.promise;
      return true;
    });
    let answered = false;
    const response = statusOf(grant).then((status) => {
      answered = true;
      return status;
    });
    await vi.waitFor(() => expect(noteUse).toHaveBeenCalledTimes(2));
    // A whole request later, the response still waits.
    await send(server, { method: 'GET', path: '/livez' });
    expect(answered).toBe(false);
    held.resolve();
    expect(await response).toBe(200);
    noteUse.mockRestore();
    expect(await statusOf(grant)).toBe(200);
    const at = new Date(server.now()).toISOString().replace('Z', '+00:00');
    expect((await entryOf(linked)).last_used_at).toBe(at);
  });

  test('is known to another process from its first request', async () => {
    const linked = await idleAfter(1);
    const grant = await linked.link();
    const other = await startTestServer(server.database.url);
    other.advance(server.now() - other.now());
    other.advance(2 * DAY + 1);
    expect(await statusOf(grant)).toBe(200);
    expect(await statusOf(grant, other)).toBe(401);
    await other.close();
  });

  test.each([0, 3651, 1.5, '30'])('cannot be idle after %j days', async (idle_days) => {
    const { application_id } = await linkedApplication(server);
    const input = { application_id, idle_days };
    const { status } = await invoke(server, 'REST', 'admin.applications.update', input, operator);
    expect(status).toBe(400);
  });
});
