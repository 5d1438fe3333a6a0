import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { migrate, migrations } from '../src/migrations.ts';
import { nodeSqlite } from '../src/node-sqlite.ts';

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

const additive = {
  ...{ title: 'add a column', additive: true, rewrites: false },
  sql: 'ALTER TABLE grants ADD COLUMN note TEXT',
};
const breaking = {
  ...{ title: 'drop a column', additive: false, rewrites: true },
  sql: 'ALTER TABLE grants DROP COLUMN note',
};

describe('a database of another version', () => {
  const versions = [
    migrations,
    [...migrations, additive],
    [...migrations, additive, breaking],
    [...migrations, additive, breaking, additive],
  ];
  const fresh = (steps = migrations) => {
    const database = new (nodeSqlite().DatabaseSync)(':memory:');
    migrate(database, 'a.db', true, steps);
    return database;
  };

  // What a program does with a database, by the number of steps that each knows or has.
  test.each([
    // program, database, outcome
    [1, 1, 'works'],
    [2, 1, 'migrates'],
    [1, 2, 'works'],
    [3, 2, 'waits for `latchkey migrate`'],
    [3, 1, 'waits for `latchkey migrate`'],
    [2, 3, 'is too old'],
    [1, 4, 'is too old'],
    [3, 4, 'works'],
    [4, 3, 'migrates'],
  ] as const)(
    'of a program with %i steps and a database with %i: it %s',
    (program, has, outcome) => {
      const database = fresh(versions[has - 1]);
      const steps = versions[program - 1];
      const attempt = (mayMigrate: boolean | 'all') => () =>
        migrate(database, 'a.db', mayMigrate, steps);
      const version = () => database.prepare('PRAGMA user_version').get()?.user_version;
      const later = Math.max(program, has);
      if (outcome === 'is too old') {
        for (const may of [false, true, 'all'] as const) {
          expect(attempt(may)).toThrow(
            /newer Latchkey: .* Run that version of Latchkey or a later/,
          );
        }
        expect(version()).toBe(has);
        return;
      }
      if (outcome === 'works') attempt(false)();
      else expect(attempt(false)).toThrow('Run `latchkey migrate`.');
      expect(version()).toBe(has);
      if (outcome === 'waits for `latchkey migrate`') {
        expect(attempt(true)).toThrow('Stop them all, then run `latchkey migrate`.');
        expect(version()).toBe(has);
      } else {
        attempt(true)();
        expect(version()).toBe(later);
      }
      attempt('all')();
      expect(version()).toBe(later);
      database.close();
    },
  );

  test('that does not say which programs it is for is too new', () => {
    const database = fresh();
    database.exec('PRAGMA user_version = 2');
    expect(() => migrate(database, 'a.db')).toThrow('newer Latchkey');
    database.exec('DROP TABLE schema_version');
    expect(() => migrate(database, 'a.db')).toThrow('newer Latchkey');
    database.close();
  });
});

test('a migration that fails leaves the database as it was', () => {
  const database = new (nodeSqlite().DatabaseSync)(':memory:');
  // Conflicts with the last table of the first step.
  database.exec('CREATE TABLE schema_version (key)');
  expect(() => migrate(database, ':memory:')).toThrow('table schema_version already exists');
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  const tables = database.prepare('SELECT name FROM sqlite_schema').all();
  expect(tables).toEqual([{ name: 'schema_version' }]);
  database.close();
});
