import type { DatabaseSync } from 'node:sqlite';
import { inRequest, REQUEST_DEADLINE } from '@latchkey/domain/request-scope';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inMemory } from '../src/database-file.ts';
import { GroupCommit } from '../src/group-commit.ts';
import { nodeSqlite } from '../src/node-sqlite.ts';
import { noReserve } from '../src/reserve.ts';

describe('a group commit', () => {
  let database: DatabaseSync;
  let commits: GroupCommit;

  beforeEach(() => {
    database = new (nodeSqlite().DatabaseSync)(':memory:');
    // A deferred foreign key is checked by COMMIT, which then fails for real.
    database.exec(`
      CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
      CREATE TABLE entries (
        name TEXT UNIQUE,
        parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED
      ) STRICT;`);
    commits = new GroupCommit(database, inMemory, noReserve, () => {});
  });
  afterEach(() => {
    vi.restoreAllMocks();
    database.close();
  });

  const add = (name: string, parent: number | null = null) =>
    commits.run(() => {
      database.prepare('INSERT INTO entries VALUES (?, ?)').run(name, parent);
      return name;
    });
  const names = () =>
    database
      .prepare('SELECT name FROM entries ORDER BY name')
      .all()
      .map(({ name }) => name);
  /** How each transaction so far ended. */
  function transactions(): string[] {
    return vi
      .mocked(database.exec)
      .mock.calls.map(([sql]) => sql)
      .filter((sql) => sql === 'COMMIT' || sql === 'ROLLBACK');
  }

  test('begins no write of a request that has no time left', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const writing = inRequest(() => {
        vi.advanceTimersByTime(REQUEST_DEADLINE);
        return add('late');
      });
      await expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
    } finally {
      vi.useRealTimers();
    }
    await add('of no request');
    expect(names()).toEqual(['of no request']);
  });

  test('commits the writes of one turn of the event loop in one transaction', async () => {
    vi.spyOn(database, 'exec');
    const first = ['a', 'b', 'c'].map((name) => add(name));
    // Queued later in the same turn.
    const second = Promise.resolve().then(() => add('d'));
    expect(names()).toEqual([]);
    expect(await Promise.all([...first, second])).toEqual(['a', 'b', 'c', 'd']);
    expect(transactions()).toEqual(['COMMIT']);
    await add('e');
    expect(transactions()).toEqual(['COMMIT', 'COMMIT']);
  });

  test('bounds a transaction, and commits all writes in the end', async () => {
    vi.spyOn(database, 'exec');
    await Promise.all(Array.from({ length: 600 }, (_, index) => add(`${index}`)));
    expect(transactions()).toEqual(['COMMIT', 'COMMIT', 'COMMIT']);
    expect(names()).toHaveLength(600);
  });

  test('undoes all of a write that throws, and no other write', async () => {
    const mistake = new TypeError('a mistake');
    const failing = commits.run(() => {
      database.exec(`INSERT INTO entries VALUES ('x', NULL)`);
      throw mistake;
    });
    const results = await Promise.allSettled([add('a'), failing, add('a'), add('b')]);
    expect(results).toMatchObject([
      { value: 'a' },
      { reason: mistake },
      { reason: { message: expect.stringContaining('UNIQUE') } },
      { value: 'b' },
    ]);
    expect(names()).toEqual(['a', 'b']);
  });

  test('rejects every write if the commit fails, and changes nothing', async () => {
    const nobody = 42;
    const results = await Promise.allSettled([add('a'), add('b', nobody), add('c')]);
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'store_unavailable', cause: { message: /FOREIGN KEY/ } },
      });
    }
    expect(names()).toEqual([]);
    expect(await add('d')).toBe('d');
    expect(names()).toEqual(['d']);
  });

  // Seen with a disk that fails to sync: the commit is rolled back, but can reappear after a crash.
  test('reports an unknown outcome if only the sync failed', async () => {
    const exec = database.exec.bind(database);
    vi.spyOn(database, 'exec').mockImplementation((sql) => {
      if (sql !== 'COMMIT') return exec(sql);
      throw Object.assign(new Error('disk I/O error'), { errcode: 1034 });
    });
    const insert = () => database.prepare('INSERT INTO entries VALUES (?, NULL)').run('a');
    await expect(
      commits.run(insert, { members: { grant_id: 'of-this-test' } }),
    ).rejects.toMatchObject({
      code: 'outcome_unknown',
      members: { grant_id: 'of-this-test' },
    });
    vi.restoreAllMocks();
    expect(names()).toEqual([]);
    expect(await add('b')).toBe('b');
  });

  test('rejects every write while the disk is full, and works again once there is room', async () => {
    await add('a');
    const pages = database.prepare('PRAGMA page_count').get()?.page_count;
    database.exec(`PRAGMA max_page_count = ${pages}`);
    const long = 'x'.repeat(100_000);
    const results = await Promise.allSettled([add('b'), add(long), add('c')]);
    for (const result of results) {
      expect(result).toMatchObject({ reason: { code: 'store_unavailable' } });
    }
    expect(names()).toEqual(['a']);

    database.exec('PRAGMA max_page_count = 10000');
    expect(await Promise.all([add('b'), add(long), add('c')])).toHaveLength(3);
    expect(names()).toEqual(['a', 'b', 'c', long]);
  });

  test('rejects every write while the database is read-only', async () => {
    database.exec('PRAGMA query_only = ON');
    await expect(add('a')).rejects.toMatchObject({ code: 'store_unavailable' });
    database.exec('PRAGMA query_only = OFF');
    expect(await add('a')).toBe('a');
  });

  test('is idle once every write is settled, including those that arrived meanwhile', async () => {
    const answered: string[] = [];
    const first = add('a').then(async (name) => {
      answered.push(name);
      answered.push(await add('b'));
    });
    await commits.idle();
    await first;
    expect(answered).toEqual(['a', 'b']);
    await commits.idle();
  });
});
