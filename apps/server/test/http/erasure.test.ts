import { readFile } from 'node:fs/promises';
import type { Store } from '@latchkey/store/store';
import { anInitiator } from '@latchkey/store-suite/records';
import { expect, test, vi } from 'vitest';
import { invoke, succeed } from './call.ts';
import { describeOnEachStore, sqliteDatabase } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

// Names that nothing else contains.
const QUICKSILVER = {
  username: 'quicksilver-username',
  display_name: 'Quicksilver Display Name',
  twitter: 'quicksilver-twitter',
};
const isNamed = (bytes: Buffer) => /quicksilver/i.test(bytes.toString('latin1'));

describeOnEachStore('the erasure of an account', (fresh) => {
  const server = useServer(fresh);

  test('leaves no name in any byte of the database', async () => {
    const linked = await linkedApplication(server);
    const { account_id, bearer } = linked;
    const put = (members: object) =>
      succeed(server, 'admin.accounts.put', { account_id, ...QUICKSILVER, ...members }, operator);
    // What was replaced before has to be gone too.
    await put({ display_name: 'Quicksilver before the wedding' });
    await linked.link();
    await put({});
    const { grant_id } = await linked.link();
    await linked.issue();
    await succeed(server, 'grants.revoke', { grant_id }, bearer);
    const { code } = await linked.issue();
    await linked.convert(code);
    await invoke(server, 'REST', 'grants.convert', { code }, bearer);
    await server.service.audit.flush();
    expect(isNamed(await server.database.bytes())).toBe(true);

    const { grants_revoked } = await succeed(
      server,
      'admin.accounts.erase',
      { account_id },
      operator,
    );
    expect(grants_revoked).toBe(2);
    expect(isNamed(await server.database.bytes())).toBe(false);
    expect(isNamed(Buffer.from(server.lines.join('')))).toBe(false);
  });
});

test('an erasure on SQLite waits for a reader of the log, and says so if that takes too long', async () => {
  const { openSqliteStore } = await import('@latchkey/store-sqlite/sqlite-store');
  const { nodeSqlite } = await import('@latchkey/store-sqlite/node-sqlite');
  const database = await sqliteDatabase();
  const path = database.url.slice('file:'.length);
  const store = await openSqliteStore({ path, clock: Date.now });
  const account_id = '0193aa00-0000-4000-8000-0000000000b0';
  await store.putAccount({ id: account_id, ...QUICKSILVER, verified: false, supporter: false });
  const { DatabaseSync } = nodeSqlite();
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT count(*) FROM accounts');
  reader.prepare('SELECT * FROM accounts').all();
  await expect(
    store.eraseAccount({ account_id, now: 1, initiator: anInitiator() }),
  ).rejects.toMatchObject({
    code: 'outcome_unknown',
    cause: { message: expect.stringContaining('Repeat') },
  });
  reader.exec('COMMIT');
  reader.close();
  expect(await store.eraseAccount({ account_id, now: 1, initiator: anInitiator() })).toBe(0);
  expect(isNamed(Buffer.concat([await readFile(path), await readFile(`${path}-wal`)]))).toBe(false);
  await store.close();
  await database.remove();
}, 30_000);

describeOnEachStore('a deletion of an application that a crash interrupted', (fresh) => {
  const server = useServer(fresh);

  test('is completed by the next process, and forgotten once no code can be left', async () => {
    const linked = await linkedApplication(server);
    const { application_id } = linked;
    for (let count = 0; count < 3; count++) await linked.link();
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    const { store } = server.service;
    // All that was done before the crash.
    await store.deleteApplication({
      ...{ application_id, deleted_at: server.now() },
      deleted_by: anInitiator(),
    });
    const live = async (from: Store) => {
      const page = { limit: 9, before: null };
      const grants = await from.listGrants({ application_id }, page);
      return grants.filter(({ revoked_at }) => revoked_at === null).length;
    };
    expect(await live(store)).toBe(3);

    const next = await startTestServer(server.database.url);
    await vi.waitFor(async () => expect(await live(store)).toBe(0), { timeout: 20_000 });
    await next.service.deletions.complete();
    expect(await store.listDeletions()).toHaveLength(1);
    next.advance(700_000);
    await next.service.deletions.complete();
    expect(await store.listDeletions()).toEqual([]);
    await next.close();
  });
});
