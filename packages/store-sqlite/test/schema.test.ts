import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { SCHEMA } from '@latchkey/store/schema-version';
import { expect, test, vi } from 'vitest';
import { nodeSqlite } from '../src/node-sqlite.ts';
import { createSchema, versionOf } from '../src/schema.ts';

const inMemory = () => new (nodeSqlite().DatabaseSync)(':memory:');
const version = (database: DatabaseSync) => database.prepare('PRAGMA user_version').get();

test('tables that another process made just before this one got the lock are not made again', () => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-schema-'));
  const path = join(directory, 'a.db');
  const { DatabaseSync } = nodeSqlite();
  const [mine, theirs] = [new DatabaseSync(path), new DatabaseSync(path)];
  const exec = mine.exec.bind(mine);
  vi.spyOn(mine, 'exec').mockImplementationOnce((sql) => {
    expect(sql).toBe('BEGIN IMMEDIATE');
    createSchema(theirs, path);
    exec(sql);
  });
  createSchema(mine, path);
  expect(version(mine)).toEqual({ user_version: SCHEMA.version });
  mine.close();
  theirs.close();
  rmSync(directory, { recursive: true });
});

test('tables that cannot all be made leave the database as it was', () => {
  const database = inMemory();
  // Conflicts with the last table.
  database.exec('CREATE TABLE schema_version (key)');
  expect(() => createSchema(database, ':memory:')).toThrow('table schema_version already exists');
  expect(version(database)).toEqual({ user_version: 0 });
  const tables = database.prepare('SELECT name FROM sqlite_schema').all();
  expect(tables).toEqual([{ name: 'schema_version' }]);
  database.close();
});

// A program of this version must know them already, when the next one brings a step.
test('a newer database is used if it says that programs of this version can, and else refused', () => {
  const database = inMemory();
  createSchema(database, 'a.db');
  database.exec('PRAGMA user_version = 3; UPDATE schema_version SET version = 3, oldest = 1');
  expect(versionOf(database, 'a.db')).toBe(3);
  const tooNew = /newer Latchkey: .* Run that version of Latchkey or a later/;
  database.exec('UPDATE schema_version SET oldest = 2');
  expect(() => createSchema(database, 'a.db')).toThrow(tooNew);
  // The note is of another version than the one that somebody set.
  database.exec('UPDATE schema_version SET version = 2, oldest = 1');
  expect(() => versionOf(database, 'a.db')).toThrow(tooNew);
  database.exec('DROP TABLE schema_version');
  expect(() => versionOf(database, 'a.db')).toThrow(tooNew);
  database.close();
});
