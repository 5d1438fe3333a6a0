import { randomUUID } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runInProcess } from '../http/command-process.ts';
import { describeOnMongodb, sqliteDatabase, type TestDatabase } from '../http/databases.ts';

const unknown = randomUUID();

const notCreating = [
  ['app', 'list'],
  ['app', 'disable', unknown],
  ['grant', 'list', '--app', unknown],
  ['grant', 'history', unknown],
  ['code', 'cancel', unknown],
  ['explain', 'a-request'],
  ['migrate'],
];

describe('on SQLite', () => {
  let database: TestDatabase;
  let path: string;
  beforeEach(async () => {
    database = await sqliteDatabase();
    path = database.url.slice('file:'.length);
  });
  afterEach(() => database.remove());
  const latchkey = (words: string[]) => runInProcess(words, { DATABASE_URL: database.url });

  test('only commands that are meant to create a database do', async () => {
    for (const words of notCreating) {
      const { code, stderr } = await latchkey(words);
      expect(code).toBe(1);
      expect(stderr).toContain(`There is no database at ${path}`);
    }
    expect(existsSync(path)).toBe(false);
    expect((await latchkey(['app', 'create', 'Acme'])).code).toBe(0);
    expect(existsSync(path)).toBe(true);
  });

  test('no other command makes an empty file a database of Latchkey', async () => {
    writeFileSync(path, '', { mode: 0o644 });
    for (const words of notCreating) {
      const { code, stderr } = await latchkey(words);
      expect(code).toBe(1);
      expect(stderr).toContain(`There is no database at ${path}`);
    }
    expect(statSync(path)).toMatchObject({ size: 0, mode: 0o100644 });
  });
});

describeOnMongodb('the access of commands', (server) => {
  const name = freshName();
  const client = new MongoClient(server);
  const db = client.db(name);
  afterEach(async () => {
    await db.dropDatabase();
    await client.close();
  });
  const latchkey = (words: string[]) => runInProcess(words, { DATABASE_URL: urlOf(server, name) });

  test('creates a database, or its indexes, only where a command is meant to', async () => {
    for (const words of notCreating) {
      const { code, stderr } = await latchkey(words);
      expect(code).toBe(1);
      expect(stderr).toContain(`There is no database ${name} of Latchkey on this server.`);
    }
    expect(await db.listCollections().toArray()).toEqual([]);
    expect((await latchkey(['app', 'create', 'Acme'])).code).toBe(0);

    await db.collection('grants').dropIndex('grants_by_account');
    const { stdout } = await latchkey(['grant', 'list', '--account', unknown, '--json']);
    expect(JSON.parse(stdout).data).toEqual([]);
    const indexes = await db.collection('grants').indexes();
    expect(indexes.map((index) => index.name)).not.toContain('grants_by_account');
  });
});
