import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareEmptyLog } from '../src/empty-log.ts';
import { openDatabase } from '../src/open-database.ts';
import { prepareVouch, whyIncomplete } from '../src/wal-mark.ts';

const WORD = 'a word that a user wants to be deleted';

let folder: string;
let path: string;
let database: DatabaseSync;
let replicator: DatabaseSync;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-log-'));
  path = join(folder, 'latchkey.db');
  database = await openDatabase(path);
  replicator = new DatabaseSync(path);
  replicator.exec('PRAGMA wal_autocheckpoint = 0; CREATE TABLE _replicator (number INTEGER)');
});
afterEach(() => {
  replicator.close();
  database.close();
  rmSync(folder, { recursive: true });
});

const isInFiles = () => ['', '-wal'].some((suffix) => readFileSync(path + suffix).includes(WORD));
const READ = 'BEGIN; SELECT count(*) FROM _replicator';

/** In many pages, so that what comes later overwrites few of them. */
function storeAndDelete(): void {
  const insert = database.prepare('INSERT INTO rate_limit_counts VALUES (?, 1, 1)');
  for (let row = 0; row < 500; row++) insert.run(`${WORD}, ${row}`);
  database.exec('DELETE FROM rate_limit_counts');
}

/** As Litestream does about once a minute. Otherwise it holds its read transaction. */
function beginLogAnew(): void {
  replicator.exec('COMMIT; PRAGMA wal_checkpoint; INSERT INTO _replicator VALUES (1)');
  replicator.exec(READ);
}

test('the log has nothing of what was deleted, at once if nobody reads it', () => {
  storeAndDelete();
  expect(isInFiles()).toBe(true);
  expect(prepareEmptyLog(database, path)('one')).toBe(true);
  expect(isInFiles()).toBe(false);
  expect(whyIncomplete(database, path)).toBeNull();
});

test('beside a replicator it has nothing of it as soon as that begins the log anew', () => {
  const emptyLog = prepareEmptyLog(database, path);
  storeAndDelete();
  replicator.exec(READ);
  expect([emptyLog('one'), emptyLog('one')]).toEqual([false, false]);
  beginLogAnew();
  // The former log is still behind the end, and this was deleted too late for it.
  expect(isInFiles()).toBe(true);
  expect(emptyLog('two')).toBe(false);
  database.exec("INSERT INTO rate_limit_counts VALUES ('kept', 1, 1)");

  expect(emptyLog('one')).toBe(true);
  expect(isInFiles()).toBe(false);
  expect(emptyLog('two')).toBe(false);
  // The replicator goes on, and what a kill leaves is whole.
  expect(replicator.prepare('SELECT * FROM _replicator').all()).toEqual([{ number: 1 }]);
  const killed = join(folder, 'killed.db');
  for (const suffix of ['', '-wal']) cpSync(path + suffix, killed + suffix);
  const left = new DatabaseSync(killed);
  expect(left.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  expect(left.prepare('SELECT key FROM rate_limit_counts').all()).toEqual([{ key: 'kept' }]);
  left.close();

  beginLogAnew();
  expect(emptyLog('two')).toBe(true);
});

test('beside a replicator the time since when changes may be lost moves on as the log begins anew', () => {
  const since = () => database.prepare('SELECT state, since FROM wal_mark').get();
  replicator.exec(READ);
  database.exec("UPDATE wal_mark SET state = 'opening', since = 10");
  const vouch = prepareVouch(database, path);
  const change = () => database.exec("REPLACE INTO rate_limit_counts VALUES ('one', 1, 1)");
  for (const now of [100, 200]) {
    change();
    vouch(now);
    expect(since()).toEqual({ state: 'opening', since: 10 });
  }
  beginLogAnew();
  change();
  vouch(300);
  expect(since()).toEqual({ state: 'in_use', since: 200 });
});
