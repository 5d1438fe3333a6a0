import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Store } from '@latchkey/store/store';
import { granted, grantOf, issued, redeemed, redemptionOf } from '@latchkey/store-suite/records';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SqliteTestDatabase, sqliteHarness } from './sqlite-harness.ts';

// Holds the write lock, as a person in a SQLite shell may, until it is told to let go.
const LOCK = `
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('BEGIN IMMEDIATE');
  console.log('locked');
  process.stdin.once('data', () => {
    database.exec('ROLLBACK');
    process.exit();
  });
`;

describe('a database that another process holds locked', () => {
  let database: SqliteTestDatabase;
  let store: Store;
  let locker: ChildProcess;

  beforeEach(async () => {
    database = await sqliteHarness.fresh();
    store = await database.open();
  });
  afterEach(async () => {
    locker.kill('SIGKILL');
    await store.close();
    await database.remove();
  });

  async function lock(): Promise<void> {
    locker = spawn(process.execPath, ['-e', LOCK, database.path], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (locker.stdout) await once(locker.stdout, 'data');
  }

  async function unlock(): Promise<void> {
    const exit = once(locker, 'exit');
    locker.stdin?.write('go\n');
    await exit;
  }

  test('is waited for, while reads are answered', async () => {
    const { grant } = await granted(store);
    const code = await issued(store);
    await lock();
    let settled = false;
    const redeeming = redeemed(store, code).finally(() => {
      settled = true;
    });
    for (let read = 0; read < 20; read++) {
      // The write tries to get the lock in between.
      await setTimeout(5);
      expect(await grantOf(store, grant.grant_id)).toEqual(grant);
    }
    await store.ping();
    expect(settled).toBe(false);
    await unlock();
    const { grant: late } = await redeeming;
    expect(await grantOf(store, code.grant_id)).toEqual(late);
  });

  test('for too long refuses the write, which consumes no code', async () => {
    const codes = [await issued(store), await issued(store)];
    await lock();
    const results = await Promise.allSettled(
      codes.map((code) => store.redeemCode(redemptionOf(code))),
    );
    for (const result of results) {
      expect(result).toMatchObject({
        reason: { code: 'store_unavailable', cause: { message: 'database is locked' } },
      });
    }
    await unlock();
    for (const code of codes) expect((await redeemed(store, code)).grant).not.toBeNull();
  });

  test('can be opened, since that takes no lock', async () => {
    const { grant } = await granted(store);
    await lock();
    const other = await database.open();
    expect(await grantOf(other, grant.grant_id)).toEqual(grant);
    await other.close();
    await unlock();
  });
});
