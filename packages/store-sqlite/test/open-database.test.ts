import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BadSetting } from '@latchkey/domain/bad-setting';
import { SCHEMA } from '@latchkey/store/schema-version';
import { StoreProcess } from '@latchkey/store-suite/child';
import { anAccount, atOnce } from '@latchkey/store-suite/records';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { inspectSqlite } from '../src/inspect.ts';
import { nodeSqlite } from '../src/node-sqlite.ts';
import { openDatabase } from '../src/open-database.ts';
import { closeDatabase } from '../src/wal-mark.ts';
import { sqliteModule } from './sqlite-harness.ts';

// Takes the write lock, and creates the tables when it is told to.
const MAKE_TABLES = `
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const { SCHEMA_TEXT } = await import(process.env.SCHEMA);
  const database = new DatabaseSync(process.argv[1]);
  database.exec('PRAGMA application_id = 1280009593; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
  console.log('locked');
  process.stdin.once('data', () => {
    database.exec(SCHEMA_TEXT + 'PRAGMA user_version = 1; COMMIT');
    process.exit();
  });
`;

describe('opening a SQLite database', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'latchkey-open-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const pragma = (database: Awaited<ReturnType<typeof openDatabase>>, name: string) =>
    database.prepare(`PRAGMA ${name}`).get()?.[name];

  test('turns on the write-ahead log, and syncs it at every commit', async () => {
    const database = await openDatabase(join(directory, 'a.db'));
    expect(pragma(database, 'journal_mode')).toBe('wal');
    expect(pragma(database, 'synchronous')).toBe(2); // FULL
    expect(pragma(database, 'fullfsync')).toBe(1);
    expect(pragma(database, 'user_version')).toBe(SCHEMA.version);
    database.close();
  });

  test('creates the directory and the file, for their owner only', async () => {
    const path = join(directory, 'data', 'deep', 'a.db');
    const database = await openDatabase(path);
    const mode = (file: string) => statSync(file).mode & 0o777;
    expect(mode(join(directory, 'data'))).toBe(0o700);
    expect(mode(join(directory, 'data', 'deep'))).toBe(0o700);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(mode(file)).toBe(0o600);
    database.close();
  });

  test('keeps the data of an existing database', async () => {
    const path = join(directory, 'a.db');
    const first = await openDatabase(path);
    first.exec(`INSERT INTO accounts (id) VALUES (x'00')`);
    closeDatabase(first, path);
    const second = await openDatabase(path);
    expect(second.prepare('SELECT count(*) AS found FROM accounts').get()).toEqual({ found: 1 });
    second.close();
  });

  test('refuses a database of a newer program, says what to do, and does not change it', async () => {
    const path = join(directory, 'a.db');
    const newer = await openDatabase(path);
    newer.exec('PRAGMA user_version = 7');
    closeDatabase(newer, path);
    await expect(openDatabase(path)).rejects.toThrow(
      `a.db was migrated or created by a newer Latchkey: its schema is version 7, and this program knows ${SCHEMA.version}. Run that version`,
    );
    const after = new (nodeSqlite().DatabaseSync)(path);
    expect(pragma(after, 'user_version')).toBe(7);
    after.close();
  });

  test.each([['is below a file', 'text/a.db']])(
    'fails with the path and what to check if the file %s',
    async (_, name) => {
      writeFileSync(join(directory, 'text'), 'a text that is long enough for a header'.repeat(10));
      const path = join(directory, name);
      await expect(openDatabase(path)).rejects.toMatchObject({
        code: 'store_unavailable',
        cause: { message: expect.stringContaining(`${path} cannot be opened: `) },
      });
    },
  );

  // A process of its own, because the fault that this guards against is a call that never returns.
  test.runIf(process.platform === 'linux')('below /proc fails, and does not hang', () => {
    const module = new URL('../src/open-database.ts', import.meta.url);
    const program = `
      const { openDatabase } = await import('${module}');
      await openDatabase('/proc/latchkey/data/a.db');`;
    const args = ['--input-type=module', '-e', program];
    const { status, stderr } = spawnSync(process.execPath, args, { timeout: 20_000 });
    expect(status).toBe(1);
    expect(String(stderr)).toContain('/proc/latchkey/data/a.db cannot be opened: ');
  });

  test('waits while another process creates the tables, and does not create them again', async () => {
    const path = join(directory, 'a.db');
    const maker = spawn(process.execPath, ['--input-type=module', '-e', MAKE_TABLES, path], {
      env: {
        ...process.env,
        SCHEMA: new URL('../src/schema.ts', import.meta.url).href,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(maker.stdout, 'data');
    let opened = false;
    const opening = openDatabase(path).finally(() => {
      opened = true;
    });
    await setTimeout(100);
    expect(opened).toBe(false);
    maker.stdin.write('go\n');
    const database = await opening;
    expect(pragma(database, 'user_version')).toBe(SCHEMA.version);
    database.close();
    maker.kill();
  });

  test('by several processes at once creates one database', async () => {
    const database = { module: sqliteModule, url: `file:${join(directory, 'a.db')}` };
    const processes = await atOnce(4, () => StoreProcess.start(database));
    const account = anAccount();
    const [first, ...others] = processes;
    await first?.load([{ method: 'putAccount', args: [account] }]);
    await first?.go();
    for (const other of others) {
      await other.load([{ method: 'findAccount', args: [account.id] }]);
      expect(await other.go()).toEqual([{ value: account }]);
    }
    await Promise.all(processes.map((process) => process.stop()));
  });
});

describe("Node's SQLite", () => {
  afterEach(() => vi.restoreAllMocks());

  test('if missing, is a setting to change, and the message says which Node lacks it', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'latchkey-open-')), 'latchkey.db');
    onTestFinished(() => rmSync(dirname(path), { recursive: true }));
    (await openDatabase(path)).close();
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    // As such, it makes `serve` exit with 78: a restart does not help.
    await expect(openDatabase(path)).rejects.toBeInstanceOf(BadSetting);
    expect(nodeSqlite).toThrow(/needs a Node with SQLite/);
    const { value: finding } = await inspectSqlite(path, { clock: Date.now, deep: false }).next();
    const found = expect.stringContaining(process.version.slice(1));
    expect(finding).toMatchObject({ check: 'store', level: 'problem', found });
  });

  test('is loaded without its warning; other warnings pass', () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { getBuiltinModule } = process;
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) => {
      process.emitWarning('SQLite is an experimental feature and might change at any time');
      process.emitWarning('another');
      return getBuiltinModule(name);
    }) as never);
    nodeSqlite();
    expect(emitted.mock.calls).toEqual([['another']]);
  });

  test('writes nothing to stderr', () => {
    const script = `import(${JSON.stringify(new URL('../src/node-sqlite.ts', import.meta.url).href)}).then((m) => m.nodeSqlite())`;
    const { stderr, status } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });
});
