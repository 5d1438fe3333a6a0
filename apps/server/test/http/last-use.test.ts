import { expect, test, vi } from 'vitest';
import { invoke, succeed } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { confidentialMethods, postForm } from './forms.ts';
import { asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

const DAY = 86_400_000;

describeOnEachStore('the last use of a grant', (fresh) => {
  const server = useServer(fresh);
  const at = (time: number) => new Date(time).toISOString().replace('Z', '+00:00');

  const form = (by: LinkedApplication, path: string, token: string) =>
    postForm(server, path, { token }, confidentialMethods.client_secret_basic(by).authorization);
  /** In the list of grants, in the export and on the connection. */
  async function lastUses({ account_id, application_id }: LinkedApplication) {
    await server.service.useNotes.flush();
    const grants = await succeed(server, 'admin.grants.list', { application_id }, operator);
    const exported = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    expect(exported.grants).toStrictEqual(grants.data);
    const connections = await succeed(server, 'admin.connections.list', { account_id }, operator);
    type Used = { last_used_at: string | null };
    return {
      grants: grants.data.map(({ last_used_at }: Used) => last_used_at),
      connections: connections.data.map(({ last_used_at }: Used) => last_used_at),
    };
  }

  test('is null before the first one, and at most a day too early', async () => {
    const linked = await linkedApplication(server);
    const grant = await linked.link();
    server.advance(1);
    const unused = await linked.link();
    const use = async () => {
      const { status } = await invoke(server, 'REST', 'account.get', {}, asBearer(grant));
      expect(status).toBe(200);
    };
    expect(await lastUses(linked)).toEqual({ grants: [null, null], connections: [null] });
    expect(unused.grant_id > grant.grant_id).toBe(true);

    const first = server.now();
    const noteUse = vi.spyOn(server.service.store, 'noteUse');
    for (let hour = 0; hour <= 24; hour += 1) {
      await use();
      expect(await lastUses(linked)).toEqual({
        ...{ grants: [null, at(first)], connections: [at(first)] },
      });
      server.advance(3_600_000);
    }
    expect(noteUse).toHaveBeenCalledTimes(1);
    const next = server.now();
    // At most once a day, however many requests there are.
    await Promise.all(Array.from({ length: 20 }, use));
    server.advance(DAY);
    await use();
    expect(await lastUses(linked)).toEqual({
      ...{ grants: [null, at(next)], connections: [at(next)] },
    });
    noteUse.mockRestore();
  });

  test('is behind the response, which a failure of the write does not touch', async () => {
    const linked = await linkedApplication(server);
    const grant = await linked.link();
    const use = () => invoke(server, 'REST', 'account.get', {}, asBearer(grant));
    await use();
    server.advance(2 * DAY);
    const written = Promise.withResolvers<boolean>();
    const noteUse = vi.spyOn(server.service.store, 'noteUse').mockReturnValueOnce(written.promise);
    expect((await use()).status).toBe(200);
    expect((await use()).status).toBe(200);
    expect(noteUse).toHaveBeenCalledTimes(1);
    written.reject(new Error('the database is away'));
    await server.service.useNotes.flush();
    noteUse.mockRestore();
    expect(server.lines.join('')).toContain('could not note the use of a secret');

    await use();
    expect((await lastUses(linked)).grants).toEqual([at(server.now())]);
  });

  test('is an introspection that is active too, but no refusal and no revocation', async () => {
    const linked = await linkedApplication(server);
    const other = await linkedApplication(server);
    const grant = await linked.link();
    await form(linked, '/oauth/introspect', grant.grant_secret);
    const first = at(server.now());
    server.advance(2 * DAY);
    const { application_id } = linked;
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    expect((await invoke(server, 'REST', 'account.get', {}, asBearer(grant))).status).toBe(403);
    await succeed(server, 'admin.applications.enable', { application_id }, operator);
    await form(other, '/oauth/introspect', grant.grant_secret);
    expect((await lastUses(linked)).grants).toEqual([first]);
    await form(linked, '/oauth/introspect', grant.grant_secret);
    const second = at(server.now());
    expect((await lastUses(linked)).grants).toEqual([second]);
    server.advance(2 * DAY);
    expect((await form(linked, '/oauth/revoke', grant.grant_secret)).status).toBe(200);
    expect(await lastUses(linked)).toEqual({ grants: [second], connections: [] });
  });
});
