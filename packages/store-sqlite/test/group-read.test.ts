import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inMemory, watchDatabaseFile } from '../src/database-file.ts';
import { GroupCommit } from '../src/group-commit.ts';
import { GroupRead } from '../src/group-read.ts';
import { nodeSqlite } from '../src/node-sqlite.ts';
import { noReserve } from '../src/reserve.ts';

const INSERT = 'INSERT INTO entries VALUES (1)';

describe('a group read', () => {
  let folder: string;
  let path: string;
  let other: DatabaseSync;
  let database: DatabaseSync;
  let isEnded: boolean;
  let reads: GroupRead;

  const refuseIfEnded = () => {
    if (isEnded) throw new DomainError('store_unavailable');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'latchkey-reads-'));
    path = join(folder, 'a.db');
    const { DatabaseSync } = nodeSqlite();
    other = new DatabaseSync(path);
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE entries (entry INTEGER) STRICT');
    database = new DatabaseSync(path);
    isEnded = false;
    reads = new GroupRead(database, inMemory, refuseIfEnded);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    database.close();
    other.close();
    rmSync(folder, { recursive: true });
  });

  const count = () => database.prepare('SELECT count(*) AS entries FROM entries').get()?.entries;

  test('sees one moment for all short reads of a tick, whatever is committed in between', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const first = reads.run(() => {
      const counted = count();
      other.exec(INSERT);
      return counted;
    });
    // Asked for later in the same tick.
    const second = Promise.resolve().then(() => reads.run(count));
    expect(await Promise.all([first, second])).toEqual([0, 0]);
    expect(await reads.run(count)).toBe(1);
  });

  test('lets others in between reads that are long together', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 3;
      return now;
    });
    const order: string[] = [];
    const asked = ['first', 'second', 'third'].map((name) => reads.run(() => order.push(name)));
    setImmediate(() => {
      order.push('another request');
      asked.push(reads.run(() => order.push('fourth')));
    });
    await Promise.all(asked);
    await Promise.all(asked);
    expect(order).toEqual(['first', 'second', 'another request', 'third', 'fourth']);
  });

  test('sees what was committed before its tick ended', async () => {
    const reading = [reads.run(count), reads.run(count)];
    other.exec(INSERT);
    expect(await Promise.all(reading)).toEqual([1, 1]);
  });

  test('asked for while a transaction writes begins after its commit', async () => {
    const commits = new GroupCommit(database, inMemory, noReserve, () => {});
    const reading = commits.run(() => {
      const asked = Promise.all([reads.run(count), reads.run(count)]);
      database.exec(INSERT);
      return () => asked;
    });
    expect(await (await reading)()).toEqual([1, 1]);
  });

  test('fails only the read whose statement throws', async () => {
    const mistake = new TypeError('a mistake');
    const failing = () => {
      throw mistake;
    };
    const wrong = () => database.prepare('SELECT missing FROM entries');
    const asked = [count, failing, wrong, count].map((statement) => reads.run<unknown>(statement));
    expect(await Promise.allSettled(asked)).toMatchObject([
      { value: 0 },
      { reason: mistake },
      { reason: { message: expect.stringContaining('no such column') } },
      { value: 0 },
    ]);
    expect(await Promise.all([reads.run(count), reads.run(count)])).toEqual([0, 0]);
  });

  test('fails only the read whose error ends the transaction', async () => {
    const failing = () => {
      // As SQLite does before it reports such an error.
      database.exec('ROLLBACK');
      throw Object.assign(new Error('disk I/O error'), { errcode: 266 });
    };
    const asked = [count, failing, count].map((statement) => reads.run(statement));
    expect(await Promise.allSettled(asked)).toMatchObject([
      { value: 0 },
      { reason: { code: 'store_unavailable' } },
      { value: 0 },
    ]);
  });

  test.each([1, 2])('waits for a database that is locked: %i at once', async (reading) => {
    other.exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ${INSERT}`);
    let isSettled = false;
    const counting = Promise.all(Array.from({ length: reading }, () => reads.run(count)));
    const settled = counting.finally(() => {
      isSettled = true;
    });
    await setTimeout(50);
    expect(isSettled).toBe(false);
    // A read gives the lock back.
    other.exec('COMMIT; PRAGMA locking_mode = NORMAL; SELECT * FROM entries');
    expect(await settled).toEqual(Array(reading).fill(1));
  });

  test('rejects every read if another file is at the path, or none', async () => {
    await reads.run(count);
    const lost: string[] = [];
    const file = watchDatabaseFile(path, ({ message }) => lost.push(message));
    reads = new GroupRead(database, file, refuseIfEnded);
    expect(await reads.run(count)).toBe(0);
    renameSync(path, `${path}.moved`);
    const unavailable = { status: 'rejected', reason: { code: 'store_unavailable' } };
    const asked = [reads.run(count), reads.run(count)];
    expect(await Promise.allSettled(asked)).toMatchObject([unavailable, unavailable]);
    expect(lost).toHaveLength(1);
  });

  test('rejects every read that waits when the store is closed', async () => {
    const asked = [reads.run(count), reads.run(count)];
    isEnded = true;
    const unavailable = { status: 'rejected', reason: { code: 'store_unavailable' } };
    expect(await Promise.allSettled(asked)).toMatchObject([unavailable, unavailable]);
  });
});
