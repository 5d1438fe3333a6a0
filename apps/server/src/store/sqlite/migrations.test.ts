import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidToBytes } from '@latchkey/schema';
import { expect, test, vi } from 'vitest';
import { aCode, anOrigin, redemptionOf } from '../suite-records.ts';
import { prepareCodes } from './codes.ts';
import { migrate, migrations } from './migrations.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { openSqliteStore } from './sqlite-store.ts';

test('a migration that another process made just before the lock was had is not made again', () => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-migrate-'));
  const path = join(directory, 'a.db');
  const { DatabaseSync } = nodeSqlite();
  const [mine, theirs] = [new DatabaseSync(path), new DatabaseSync(path)];
  const exec = mine.exec.bind(mine);
  vi.spyOn(mine, 'exec').mockImplementationOnce((sql) => {
    expect(sql).toBe('BEGIN IMMEDIATE');
    migrate(theirs, path);
    exec(sql);
  });
  migrate(mine, path);
  expect(mine.prepare('PRAGMA user_version').get()).toEqual({ user_version: migrations.length });
  mine.close();
  theirs.close();
  rmSync(directory, { recursive: true });
});

test('a database of version 1 is brought on, and its grants have a history without names', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-migrate-'));
  const path = join(directory, 'a.db');
  const { grant_id, application_id, account } = aCode();
  const old = new (nodeSqlite().DatabaseSync)(path);
  old.exec(migrations[0] ?? '');
  old
    .prepare(`INSERT INTO grants (id, application_id, account_id, scope, account, code_hash,
      created_at, first_used_at) VALUES (?, ?, ?, 'a', ?, x'00', 5, 6)`)
    .run(
      uuidToBytes(grant_id),
      uuidToBytes(application_id),
      uuidToBytes(account.id),
      JSON.stringify(account),
    );
  old.exec('PRAGMA user_version = 1');
  old.close();

  const store = await openSqliteStore({ path, clock: Date.now });
  const nameless = { issued_by: null, exchanged_by: null, recovered_by: null, first_used_by: null };
  const before = { ...nameless, created_at: 5, recoveries: 0, first_used_at: 6, revoked_by: null };
  expect(await store.findGrantHistory(grant_id)).toMatchObject(before);
  const origin = anOrigin();
  await store.revokeGrant({ grant_id, application_id, now: 9, origin });
  const after = { ...before, revoked_at: 9, revoked_by: origin };
  expect(await store.findGrantHistory(grant_id)).toMatchObject(after);
  await store.close();
  rmSync(directory, { recursive: true });
});

test('a code from before the grants were written anew can be exchanged, and its grant is listed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-migrate-'));
  const path = join(directory, 'a.db');
  const code = aCode();
  const old = new (nodeSqlite().DatabaseSync)(path);
  for (const step of migrations.slice(0, 3)) old.exec(step);
  prepareCodes(old).issueCode(code);
  old.exec('PRAGMA user_version = 3');
  old.close();

  const store = await openSqliteStore({ path, clock: Date.now });
  const whose = { account_id: code.account.id };
  const page = { limit: 2, before: null };
  expect(await store.listGrants(whose, page)).toEqual([]);
  const grant = await store.redeemCode(redemptionOf(code));
  expect(grant).toMatchObject({ grant_id: code.grant_id, account: code.account });
  expect(await store.listGrants(whose, page)).toEqual([grant]);
  expect(await store.redeemCode(redemptionOf(code))).toBeNull();
  await store.close();
  rmSync(directory, { recursive: true });
});

test('a migration that fails leaves the database as it was', () => {
  const database = new (nodeSqlite().DatabaseSync)(':memory:');
  // In the way of the last table that the first step makes.
  database.exec('CREATE TABLE grants (id)');
  expect(() => migrate(database, ':memory:')).toThrow('table grants already exists');
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'grants' }]);
  database.close();
});
