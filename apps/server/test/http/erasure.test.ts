import { readFile } from 'node:fs/promises';
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

    expect(await succeed(server, 'admin.accounts.erase', { account_id }, operator)).toEqual({
      ...{ object: 'account_erasure', id: account_id, state: 'erased', grants_revoked: 2 },
    });
    expect(isNamed(await server.database.bytes())).toBe(false);
    expect(isNamed(Buffer.from(server.lines.join('')))).toBe(false);
  });
});

test('an erasure on SQLite is answered while another program reads the log, and is erased once that has ended', async () => {
  const { nodeSqlite } = await import('@latchkey/store-sqlite/node-sqlite');
  const database = await sqliteDatabase();
  const server = await startTestServer(database.url, {}, { work: { lookEvery: 50 } });
  const account_id = '0193aa00-0000-4000-8000-0000000000b0';
  await succeed(server, 'admin.accounts.put', { account_id, ...QUICKSILVER }, operator);
  const path = database.url.slice('file:'.length);
  const { DatabaseSync } = nodeSqlite();
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT count(*) FROM accounts');
  reader.prepare('SELECT * FROM accounts').all();
  const erase = () => succeed(server, 'admin.accounts.erase', { account_id }, operator);
  expect(await erase()).toMatchObject({ state: 'erasing' });
  expect(await erase()).toMatchObject({ state: 'erasing' });
  reader.exec('COMMIT');
  reader.close();
  await vi.waitFor(async () => expect(await server.service.store.listWork(1)).toEqual([]), 20_000);
  expect(isNamed(Buffer.concat([await readFile(path), await readFile(`${path}-wal`)]))).toBe(false);
  expect(await erase()).toMatchObject({ state: 'erased' });
  await server.close();
  await database.remove();
}, 30_000);
