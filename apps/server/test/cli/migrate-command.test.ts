import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import type { Migration, SchemaStep } from '@latchkey/store/schema-version';
import { openMongoMigration } from '@latchkey/store-mongodb/migration';
import { migrations as mongoMigrations } from '@latchkey/store-mongodb/migrations';
import { mongoHarness } from '@latchkey/store-mongodb/test/mongo-harness';
import { openSqliteMigration } from '@latchkey/store-sqlite/migration';
import { migrations as sqliteMigrations } from '@latchkey/store-sqlite/migrations';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runMigration } from '../../src/cli/migrate-command.ts';
import { openStore } from '../../src/open-store.ts';
import { runInProcess } from '../http/command-process.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-migrate-'));
  path = join(folder, 'a.db');
});
afterEach(() => rm(folder, { recursive: true }));

async function create(url: string): Promise<void> {
  const store = await openStore(url, { clock: Date.now });
  await store.close();
}

/** Runs the command on a migration, without a terminal that could be asked. */
async function run(migration: Migration, options: Parameters<typeof runMigration>[2] = {}) {
  const written = { stdout: '', stderr: '' };
  const writer = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const terminal = {
    ...{ environment: {}, stdin: Readable.from([]) },
    ...{ stdout: writer('stdout'), stderr: writer('stderr') },
  };
  const failure = await runMigration(terminal, migration, options).then(
    () => null,
    (error: Error) => error.message,
  );
  return { ...written, failure };
}

const note: SchemaStep = { title: 'add the column grants.note', additive: true, rewrites: false };
const rebuild: SchemaStep = { title: 'rename everything', additive: false, rewrites: true };

const withNote = [...sqliteMigrations, { ...note, sql: 'ALTER TABLE grants ADD COLUMN note TEXT' }];
const withRebuild = [
  ...withNote,
  { ...rebuild, sql: 'ALTER TABLE grants RENAME COLUMN note TO remark' },
];

const version = () => {
  const database = new DatabaseSync(path, { readOnly: true });
  const found = database.prepare('PRAGMA user_version').get()?.user_version;
  database.close();
  return found;
};

describe('migrate', () => {
  test('has nothing to do on a database of this version, and creates none', async () => {
    const command = (...words: string[]) =>
      runInProcess(['migrate', ...words], { DATABASE_URL: `file:${path}` });
    expect(await command()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no database at .*latchkey serve[^\n]*\n$/),
    });
    await create(`file:${path}`);
    const known = sqliteMigrations.length;
    expect(await command()).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: `file:${path} has schema version ${known}, and this version of Latchkey works with it. There is nothing to do.\n`,
    });
    expect(JSON.parse((await command('--json')).stdout)).toMatchObject({
      ...{ object: 'migration', database: `file:${path}`, from: known, to: known },
      ...{ steps: [], done: false },
    });
    expect(await runInProcess(['migrate'], { DATABASE_URL: 'file::memory:' })).toMatchObject({
      code: 2,
    });
  });

  test('says what it does and what room it needs before it changes anything', async () => {
    await create(`file:${path}`);
    const plan = `file:${path} has schema version 1, and this version of Latchkey needs 2:
  2. add the column grants.note
Programs of the previous version can continue to run.
It needs almost no disk space.
Make a backup first.
`;
    const migration = await openSqliteMigration(path, withNote);
    expect(await run(migration, { dryRun: true })).toEqual({
      ...{ stdout: plan, stderr: '', failure: null },
    });
    expect(version()).toBe(1);
    expect(await run(migration)).toEqual({
      stdout: `file:${path} now has schema version 2.\n`,
      stderr: plan,
      failure: null,
    });
    expect(version()).toBe(2);
    expect((await run(migration)).stdout).toContain('There is nothing to do.');
  });

  test('warns before a step that earlier programs cannot live with, and names the room', async () => {
    await create(`file:${path}`);
    const migration = await openSqliteMigration(path, withRebuild);
    const { stderr, stdout } = await run(migration);
    expect(stderr).toContain('STOP every program of an earlier version first');
    expect(stderr).toMatch(/It needs up to \d+ MB more disk space \(\d+ MB free\)\./);
    expect(stdout).toContain('schema version 3');
    expect(version()).toBe(3);
  });

  test('changes nothing if there is too little room', async () => {
    await create(`file:${path}`);
    const migration = await openSqliteMigration(path, withRebuild);
    const full: Migration = {
      ...migration,
      plan: async () => ({
        ...(await migration.plan()),
        room: { needed: 2_000_000, free: 999_999 },
      }),
    };
    expect(await run(full)).toMatchObject({
      failure:
        'The disk of the database has 1 MB free, and the migration needs up to 2 MB. Free some disk space, then migrate again. Nothing was changed.',
    });
    expect(version()).toBe(1);
  });

  test('is refused by the schema of a newer version', async () => {
    await create(`file:${path}`);
    await (await openSqliteMigration(path, withRebuild)).run();
    const migrating = await runInProcess(['migrate'], { DATABASE_URL: `file:${path}` });
    expect(migrating).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('by a newer Latchkey: its schema is version 3'),
    });
  });
});

describeOnMongodb('migrate', (server) => {
  test('a database does the same', async () => {
    const database = await mongoHarness(server).fresh();
    try {
      await create(database.url);
      let runs = 0;
      const steps = [...mongoMigrations, { ...rebuild, run: async () => void runs++ }];
      const migration = await openMongoMigration(database.url, steps);
      const planned = await run(migration, { dryRun: true, json: true });
      expect(JSON.parse(planned.stdout)).toMatchObject({
        database: expect.stringMatching(/^mongodb:\/\/127\.0\.0\.1:\d+\/[^?]+$/),
        ...{ from: 1, to: 2, done: false },
        steps: [{ version: 2, title: 'rename everything', additive: false }],
        room: { needed: expect.any(Number), free: expect.any(Number) },
      });
      expect(runs).toBe(0);
      expect((await run(migration)).stderr).toContain('STOP every program');
      expect((await run(migration)).stdout).toContain('There is nothing to do.');
      expect(runs).toBe(1);
      await migration.close();
      const command = await runInProcess(['migrate'], { DATABASE_URL: database.url });
      expect(command).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('by a newer Latchkey: its schema is version 2'),
      });
    } finally {
      await database.remove();
    }
  });
});
