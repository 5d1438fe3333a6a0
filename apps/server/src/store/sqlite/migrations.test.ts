import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { migrate, migrations } from './migrations.ts';
import { nodeSqlite } from './node-sqlite.ts';

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

test('a migration that fails leaves the database as it was', () => {
  const database = new (nodeSqlite().DatabaseSync)(':memory:');
  // In the way of the last table that the first step makes.
  database.exec('CREATE TABLE grants (id)');
  expect(() => migrate(database, ':memory:')).toThrow('table grants already exists');
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'grants' }]);
  database.close();
});
