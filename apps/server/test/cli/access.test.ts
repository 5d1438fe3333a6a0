import { randomUUID } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand, runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore, sqliteDatabase, type TestDatabase } from '../http/databases.ts';

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

describeOnAnyStore('a database with endpoints, without EVENTS_KEY,', (fresh) => {
  let database: TestDatabase;
  const EVENTS_KEY = 'an-events-key-of-32-characters-or-more';
  const ADMIN_SECRET = 'a-secret-of-thirty-two-characters';
  const latchkey = (words: string[], environment: NodeJS.ProcessEnv = {}) =>
    runInProcess(words, { DATABASE_URL: database.url, ...environment });
  const unheard = 'has endpoints, and EVENTS_KEY is not set: they would not hear of what changes.';

  beforeAll(async () => {
    database = await fresh();
    expect((await latchkey(['app', 'create', 'Acme'], { EVENTS_KEY })).code).toBe(0);
    const words = ['endpoint', 'create', 'https://app.example/events'];
    expect((await latchkey(words, { EVENTS_KEY })).code).toBe(0);
  });
  afterAll(() => database.remove());

  test.each([
    [['app', 'create', 'Acme']],
    [['app', 'disable', unknown]],
    [['account', 'put', '--username', 'ada']],
    [['account', 'erase', unknown, '--yes']],
    [['code', 'issue', '--app', unknown, '--account', unknown, '--scope', 'profile.read']],
    [['grant', 'revoke', unknown, '--yes']],
    [['connection', 'revoke', '--account', unknown, '--app', unknown, '--yes']],
    [['key', 'create', 'Ada', '--role', 'read']],
    [['revoke-again', '--since', '2026-01-01T00:00:00Z', '/dev/null', '--accept-gap', '--yes']],
  ])('%j is refused', async (words) => {
    const { code, stdout, stderr } = await latchkey(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(unheard);
    expect(stderr).not.toContain('app.example');
  });

  test.each([
    [['app', 'list']],
    [['grant', 'list', '--app', unknown]],
    [['explain', 'a-request']],
    [['summary']],
    [['doctor']],
    [['migrate']],
  ])('%j is not', async (words) => {
    const { code, stderr } = await latchkey(words);
    expect(code).not.toBe(2);
    expect(stderr).not.toContain('EVENTS_KEY is not set: they');
  });

  test('the database is backed up and copied, with its endpoints', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-access-'));
    if (database.url.startsWith('file:')) {
      expect(await latchkey(['backup', join(folder, 'backup.db')])).toMatchObject({ code: 0 });
    }
    const copy = `file:${join(folder, 'copy.db')}`;
    const copied = await latchkey(['copy', '--from', database.url, '--to', copy]);
    expect(copied).toMatchObject({ code: 0 });
    const { code, stdout } = await latchkey(['endpoint', 'list', '--json'], {
      ...{ DATABASE_URL: copy, EVENTS_KEY },
    });
    expect({ code, urls: JSON.parse(stdout).data.map(({ url }: { url: string }) => url) }).toEqual({
      ...{ code: 0, urls: ['https://app.example/events'] },
    });
    await rm(folder, { recursive: true });
  });

  test('the service does not start, and a restart does not help', async () => {
    const environment = { DATABASE_URL: database.url, PORT: '0', ADMIN_SECRET };
    const { code, stderr } = await runCommand(['serve'], environment);
    expect(code).toBe(78);
    expect(stderr).toContain(unheard);
  });
});

test('the service with EVENTS_KEY needs ADMIN_SECRET, without which nobody could add an endpoint', async () => {
  const environment = {
    ...{ DATABASE_URL: 'file::memory:', PORT: '0' },
    EVENTS_KEY: 'an-events-key-of-32-characters-or-more',
  };
  const { code, stderr } = await runCommand(['serve'], environment);
  expect(code).toBe(78);
  expect(stderr).toMatch(/^EVENTS_KEY is set, but ADMIN_SECRET is not, .+ Set both\. .+\n$/);
  expect(stderr).not.toContain(environment.EVENTS_KEY);
});
