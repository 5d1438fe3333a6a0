import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { erase } from '@latchkey/store-suite/finish';
import { anAccount, anInitiator } from '@latchkey/store-suite/records';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSqliteStore } from '../src/sqlite-store.ts';
import { IncompleteDatabase } from '../src/wal-mark.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-wal-'));
  path = join(folder, 'latchkey.db');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const onError = (error: unknown) => {
  throw error;
};
const open = (place = path, clock = Date.now) => openSqliteStore({ path: place, clock, onError });

/** What each store does once a minute. */
const vouch = () => vi.advanceTimersByTimeAsync(60_000);

/** What a kill leaves. */
interface Files {
  database: Buffer;
  log: Buffer | null;
  acknowledged: string[];
}

function filesOf(acknowledged: readonly string[]): Files {
  const log = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : null;
  return { database: readFileSync(path), log, acknowledged: [...acknowledged] };
}

/** @returns the files at each different moment before and after a call of SQLite */
async function filesDuring(work: (acknowledged: string[]) => Promise<void>): Promise<Files[]> {
  const acknowledged: string[] = [];
  const found = new Map<string, Files>();
  function look(): void {
    if (!existsSync(path)) return;
    const files = filesOf(acknowledged);
    const hash = createHash('sha256').update(files.database);
    const key = hash
      .update(files.log ?? 'none')
      .update(acknowledged.join())
      .digest('hex');
    found.set(key, files);
  }
  type Prototype = Record<string, (...given: unknown[]) => unknown>;
  for (const [name, of] of [
    ['exec', DatabaseSync.prototype],
    ['close', DatabaseSync.prototype],
    ['run', StatementSync.prototype],
    ['get', StatementSync.prototype],
  ] as unknown as [string, Prototype][]) {
    const original = of[name] as Prototype[string];
    vi.spyOn(of, name).mockImplementation(function (this: unknown, ...given: unknown[]) {
      look();
      try {
        return original.apply(this, given);
      } finally {
        look();
      }
    });
  }
  await work(acknowledged).finally(() => vi.restoreAllMocks());
  return [...found.values()];
}

async function accountsIn({ database }: Files, log: Buffer | null): Promise<string[] | 'refused'> {
  const place = join(mkdtempSync(join(folder, 'killed-')), 'latchkey.db');
  writeFileSync(place, database);
  if (log !== null) writeFileSync(`${place}-wal`, log);
  try {
    const store = await open(place);
    const accounts = await store.listAccounts({}, { limit: 9, before: null });
    await store.close();
    return accounts.map(({ account }) => account.id);
  } catch (error) {
    // A new file that lacks pages is malformed.
    if (error instanceof IncompleteDatabase || /malformed/.test(inspect(error))) return 'refused';
    throw error;
  }
}

function pageOfMark(): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const find = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'wal_mark'");
  const page = Number(find.get()?.rootpage);
  database.close();
  return page;
}

/**
 * What a loss of power in a checkpoint can leave: until the file is synced, any of the pages. Here, that of the mark.
 *
 * @returns null if the log has no other commit of the mark
 */
function cutOff({ database, log, acknowledged }: Files, markPage: number): Files | null {
  if (log === null || log.length < 32) return null;
  const pageSize = log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let pending: [number, Buffer][] = [];
  const pages = new Map<number, Buffer>();
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) {
    // https://sqlite.org/fileformat2.html#wal_file_format: frames of an earlier use of the file follow.
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    pending.push([log.readUInt32BE(at), log.subarray(at + 24, at + 24 + pageSize)]);
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const [number, page] of pending) pages.set(number, page);
    pending = [];
  }
  if (!pages.has(markPage)) return null;
  const cut = Buffer.from(database);
  pages.get(markPage)?.copy(cut, (markPage - 1) * pageSize);
  return { database: cut, log, acknowledged };
}

test('a kill at any step loses nothing, and is only noticed where the log is gone', async () => {
  const moments = await filesDuring(async (acknowledged) => {
    const [kept, erased, last] = [anAccount(), anAccount(), anAccount()];
    for (const first of [true, false]) {
      const store = await open();
      const other = await open();
      if (first) {
        await store.putAccount(kept);
        acknowledged.push(kept.id);
        await store.putAccount(erased);
        await erase(store, { account_id: erased.id, now: 1, initiator: anInitiator() });
        await vouch();
      } else {
        await store.putAccount(last);
        acknowledged.push(last.id);
      }
      const killed = filesOf([]);
      await Promise.all([store.close(), other.close()]);
      if (first) continue;
      // The last process after a kill changes nothing.
      writeFileSync(path, killed.database);
      writeFileSync(`${path}-wal`, killed.log as Buffer);
      await (await open()).close();
    }
  });
  let [refused, withoutLog] = [0, 0];
  const markPage = pageOfMark();
  const cuts = moments.map((moment) => cutOff(moment, markPage)).filter((cut) => cut !== null);
  expect(cuts.length).toBeGreaterThan(5);
  for (const moment of [...moments, ...cuts]) {
    const all = expect.arrayContaining(moment.acknowledged);
    expect(await accountsIn(moment, moment.log)).toEqual(all);
    const left = await accountsIn(moment, null);
    if (left === 'refused') refused += 1;
    else expect(left).toEqual(all);
    withoutLog += 1;
  }
  expect(refused).toBeGreaterThan(5);
  expect(withoutLog - refused).toBeGreaterThan(2);
}, 120_000);

describe('the time since when changes may be lost', () => {
  const lostSince = async (place = path) => {
    cpSync(place, `${place}.alone`);
    try {
      await (await open(`${place}.alone`)).close();
      return null;
    } catch (error) {
      return /changed since (\S+),/.exec(String(error))?.[1];
    }
  };

  test('is that of the last checkpoint but one', async () => {
    let now = Date.UTC(2026, 10, 1, 10);
    const store = await open(path, () => now);
    expect(await lostSince()).toBe('2026-11-01T10:00:00.000+00:00');
    for (const minute of [1, 2, 3]) {
      await store.putAccount(anAccount());
      now = Date.UTC(2026, 10, 1, 10, minute);
      await vouch();
    }
    expect(await lostSince()).toBe('2026-11-01T10:02:00.000+00:00');
    const { log } = filesOf([]);
    // Nothing is written where nothing changes.
    await vouch();
    expect(filesOf([]).log).toEqual(log);
    await store.close();
    expect(await lostSince()).toBeNull();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('is told of no database whose log another program has emptied', async () => {
    let now = Date.now();
    const store = await open(path, () => now++);
    const other = new DatabaseSync(path);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    other.close();
    expect(readFileSync(`${path}-wal`)).toHaveLength(0);
    await vouch();
    await (await open()).close();
    await store.close();
  });
});

test('a close beside another one waits for its end, and then leaves the file whole', async () => {
  const store = await open();
  await store.putAccount(anAccount());
  const other = new DatabaseSync(path, { readOnly: true });
  other.prepare('SELECT * FROM wal_mark').get();
  const wait = vi.spyOn(Atomics, 'wait').mockImplementationOnce(() => {
    other.close();
    return 'timed-out';
  });
  await store.close();
  expect(wait).toHaveBeenCalledTimes(1);
  wait.mockRestore();
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('a close that cannot set the mark leaves the log', async () => {
  const store = await open();
  const account = anAccount();
  await store.putAccount(account);
  const other = new DatabaseSync(path);
  other.exec(
    "CREATE TRIGGER full BEFORE UPDATE ON wal_mark WHEN NEW.state = 'complete' BEGIN SELECT RAISE(FAIL, 'full'); END",
  );
  other.close();
  await store.close();
  const { log, ...left } = filesOf([]);
  expect(await accountsIn({ ...left, log }, log)).toEqual([account.id]);
});

test('a service that begins beside a reader marks the file when that has ended', async () => {
  await (await open()).close();
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT * FROM wal_mark').get();
  const store = await open();
  await store.putAccount(anAccount());
  reader.exec('COMMIT');
  reader.close();
  await vouch();
  expect(await accountsIn(filesOf([]), null)).toBe('refused');
  await store.close();
});
