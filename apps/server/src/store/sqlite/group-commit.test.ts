import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GroupCommit } from './group-commit.ts';
import { nodeSqlite } from './node-sqlite.ts';

describe('a group commit', () => {
  let database: DatabaseSync;
  let commits: GroupCommit;

  beforeEach(() => {
    database = new (nodeSqlite().DatabaseSync)(':memory:');
    // A reference that is checked at the end of the transaction makes a COMMIT that really fails.
    database.exec(`
      CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
      CREATE TABLE entries (
        name TEXT UNIQUE,
        parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED
      ) STRICT;`);
    commits = new GroupCommit(database);
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
  /** The transactions so far, each as what ended it. */
  function transactions(): string[] {
    return vi
      .mocked(database.exec)
      .mock.calls.map(([sql]) => sql)
      .filter((sql) => sql === 'COMMIT' || sql === 'ROLLBACK');
  }

  test('takes the writes of one turn of the event loop into one transaction', async () => {
    vi.spyOn(database, 'exec');
    const first = ['a', 'b', 'c'].map((name) => add(name));
    // Queued by a continuation of the same turn.
    const second = Promise.resolve().then(() => add('d'));
    expect(names()).toEqual([]);
    expect(await Promise.all([...first, second])).toEqual(['a', 'b', 'c', 'd']);
    expect(transactions()).toEqual(['COMMIT']);
    await add('e');
    expect(transactions()).toEqual(['COMMIT', 'COMMIT']);
  });

  test('bounds a transaction, and comes to all', async () => {
    vi.spyOn(database, 'exec');
    await Promise.all(Array.from({ length: 600 }, (_, index) => add(`${index}`)));
    expect(transactions()).toEqual(['COMMIT', 'COMMIT', 'COMMIT']);
    expect(names()).toHaveLength(600);
  });

  test('undoes a write that throws, all of it, and no other', async () => {
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

  test('acknowledges nothing when the commit fails: all are told, and nothing stays', async () => {
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

  // Seen with a disk that fails to sync: the commit is undone here, and is there after a crash.
  test('does not say that nothing was changed when only the wait for the disk failed', async () => {
    const exec = database.exec.bind(database);
    vi.spyOn(database, 'exec').mockImplementation((sql) => {
      if (sql !== 'COMMIT') return exec(sql);
      throw Object.assign(new Error('disk I/O error'), { errcode: 1034 });
    });
    const insert = () => database.prepare('INSERT INTO entries VALUES (?, NULL)').run('a');
    await expect(commits.run(insert, { grant_id: 'of-this-test' })).rejects.toMatchObject({
      code: 'outcome_unknown',
      members: { grant_id: 'of-this-test' },
    });
    vi.restoreAllMocks();
    expect(names()).toEqual([]);
    expect(await add('b')).toBe('b');
  });

  test('tells all when the disk is full, and goes on once there is room', async () => {
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

  test('tells all when the database is read-only', async () => {
    database.exec('PRAGMA query_only = ON');
    await expect(add('a')).rejects.toMatchObject({ code: 'store_unavailable' });
    database.exec('PRAGMA query_only = OFF');
    expect(await add('a')).toBe('a');
  });

  test('is idle once every write was answered, those that came meanwhile too', async () => {
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
