import { DomainError } from '@latchkey/domain/domain-error';
import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { expect, test, vi } from 'vitest';
import { invoke, type Json, succeed } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

describeOnEachStore('grants_per_account', (fresh) => {
  const server = useServer(fresh);

  const keep = ({ application_id }: LinkedApplication, grants_per_account: number | null) =>
    succeed(server, 'admin.applications.update', { application_id, grants_per_account }, operator);
  /** The ids of the live ones, oldest first. */
  async function liveOf({ account_id, application_id }: LinkedApplication): Promise<string[]> {
    const { data } = await succeed(server, 'admin.connections.list', { account_id }, operator);
    const own = data.find(({ application }: Json) => application.id === application_id);
    return own.grants.map(({ grant_id }: Json) => grant_id).toReversed();
  }
  /** Links in a millisecond of its own, and returns the id of the grant. */
  async function link(linked: LinkedApplication): Promise<string> {
    server.advance(1);
    return (await linked.link()).grant_id;
  }

  test('ends the oldest conversions, before the response, and says so', async () => {
    const linked = await linkedApplication(server);
    const made: string[] = [];
    for (let i = 0; i < 4; i += 1) made.push(await link(linked));
    await keep(linked, 2);
    // Only a conversion ends grants.
    expect(await liveOf(linked)).toEqual(made);
    // Issued first, converted last.
    server.advance(1);
    const late = await linked.issue();
    made.push(await link(linked));
    expect(await liveOf(linked)).toEqual(made.slice(-2));
    server.advance(1);
    const { request_id, grant_id } = await linked
      .convert(late.code)
      .then(() => ({ request_id: expect.any(String), grant_id: late.grant_id }));
    expect((await liveOf(linked)).sort()).toEqual([grant_id, made.at(-1)].sort());

    const replaced = made[3] as string;
    const report = await reportGrant(server.service.store, replaced);
    const ended = report.data.find(({ what }) => what === 'revoked');
    expect(ended).toMatchObject({ reason: 'replaced', by: 'application', request_id });
    const converted = await reportGrant(server.service.store, grant_id);
    const conversion = converted.data.find(({ what }) => what === 'converted');
    expect(ended?.request_id).toBe(conversion?.request_id);
    const { account_id, application_id } = linked;
    const exported = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    expect(exported.history.filter(({ operation }: Json) => operation === 'replaced')).toHaveLength(
      4,
    );
    const lines = server.lines.map((line) => JSON.parse(line));
    expect(
      lines.filter(({ grant_id, reason }) => grant_id === replaced && reason === 'replaced'),
    ).toEqual([
      expect.objectContaining({
        ...{ msg: 'audit', action: 'grants.revoke', by: 'application', application_id },
        ...{ result: 'done', reason: 'replaced', request_id: ended?.request_id },
      }),
    ]);
  });

  test('is of one account with one application', async () => {
    const [linked, other] = [await linkedApplication(server), await linkedApplication(server)];
    await keep(linked, 1);
    await keep(other, 1);
    const [first, ofOther] = [await link(linked), await link(other)];
    const second = await link(linked);
    expect(first).not.toBe(second);
    expect([await liveOf(linked), await liveOf(other)]).toEqual([[second], [ofOther]]);
    await keep(linked, null);
    const third = await link(linked);
    expect(await liveOf(linked)).toEqual([second, third]);
  });

  test('leaves so many after conversions at once, on two processes', async () => {
    const linked = await linkedApplication(server);
    await keep(linked, 3);
    const codes = await Promise.all(Array.from({ length: 12 }, () => linked.issue()));
    const other = await startTestServer(server.database.url);
    const results = await Promise.all(
      codes.map(({ code }, index) =>
        invoke(
          [server, other][index % 2] as typeof server,
          'REST',
          'grants.convert',
          { code },
          linked.bearer,
        ),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(await liveOf(linked)).toHaveLength(3);
    await other.close();
  });

  test('has a response that leads to the grant if the others cannot be ended', async () => {
    const linked = await linkedApplication(server);
    await keep(linked, 1);
    await link(linked);
    const { code, grant_id } = await linked.issue();
    const revoke = vi
      .spyOn(server.service.store, 'revokeGrant')
      .mockRejectedValueOnce(new DomainError('store_unavailable'));
    const { body } = await invoke(server, 'REST', 'grants.convert', { code }, linked.bearer);
    revoke.mockRestore();
    expect(body).toMatchObject({ error_code: 'outcome_unknown', grant_id });
    const recovered = await succeed(server, 'grants.recover', { grant_id }, linked.bearer);
    expect(recovered.grant_id).toBe(grant_id);
    // One more than asked for, until the next conversion.
    expect(await liveOf(linked)).toHaveLength(2);
    const next = await link(linked);
    expect(await liveOf(linked)).toEqual([next]);
  });
});
