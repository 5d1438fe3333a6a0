import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { migrate, migrations } from './migrations.ts';
import { nodeSqlite } from './open-database.ts';

test('a migration that another process made just before this one got the lock is not repeated', () => {
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

test('a migration that fails leaves the database as it was', () => {
  const database = new (nodeSqlite().DatabaseSync)(':memory:');
  // Conflicts with the last table of the first step.
  database.exec('CREATE TABLE rate_limit_counts (key)');
  expect(() => migrate(database, ':memory:')).toThrow('table rate_limit_counts already exists');
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  const tables = database.prepare('SELECT name FROM sqlite_schema').all();
  expect(tables).toEqual([{ name: 'rate_limit_counts' }]);
  database.close();
});
