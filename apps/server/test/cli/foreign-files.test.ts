import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../http/command-process.ts';
import { commands, examplesOf } from './examples-of-help.ts';

/** These open no database, or none that DATABASE_URL names. */
const WITHOUT_DATABASE = new Set(['page texts', 'demo']);

/** With them, each command comes as far as the database. */
const settings = {
  ADMIN_SECRET: randomBytes(32).toString('hex'),
  PUBLIC_URL: 'https://link.example.com',
  SIGN_IN_URL: 'https://example.com/sign-in',
};

let folder: string;
let ours: string;
let backup: string;
let document: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-foreign-'));
  ours = join(folder, 'ours', 'latchkey.db');
  backup = join(folder, 'ours', 'backup.db');
  document = join(folder, 'document.json');
  await writeFile(document, '{}');
  const environment = { DATABASE_URL: `file:${ours}` };
  expect((await runInProcess(['app', 'create', 'Acme'], environment)).code).toBe(0);
  expect((await runInProcess(['backup', backup], environment)).code).toBe(0);
});
afterAll(() => rm(folder, { recursive: true }));

function anotherDatabase(path: string, statements: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(statements);
  return database;
}

/** Each makes what is not ours at a path. What it returns ends it. */
const foreign: Record<string, (path: string) => Promise<(() => void) | undefined>> = {
  async 'the database of another program'(path) {
    anotherDatabase(path, 'CREATE TABLE grants (id BLOB); PRAGMA user_version = 1').close();
    return undefined;
  },
  async 'a database of another program that has an id, and no table'(path) {
    anotherDatabase(path, 'PRAGMA application_id = 252006674').close();
    return undefined;
  },
  async 'a database of another program whose tables are still in its log'(path) {
    const database = anotherDatabase(path, 'PRAGMA journal_mode = WAL; CREATE TABLE a (b)');
    return () => database.close();
  },
  async 'a text'(path) {
    await writeFile(path, 'SQLite format 2: a text that is longer than a header\n'.repeat(10));
    return undefined;
  },
  async 'a short text'(path) {
    await writeFile(path, 'no');
    return undefined;
  },
  async 'a symbolic link to a text'(path) {
    await writeFile(`${path}.txt`, 'root:x:0:0:root:/root:/bin/bash\n');
    await symlink(`${path}.txt`, path);
    return undefined;
  },
  async 'a directory'(path) {
    await mkdir(path);
    return undefined;
  },
  async 'the file of another user'(path) {
    await writeFile(path, 'a text');
    if (process.getuid?.() === 0) await chown(path, 65_534, 65_534);
    return undefined;
  },
};

/** What is in the directory: names, bytes, modes, owners and times. */
async function stateOf(directory: string) {
  const names = (await readdir(directory)).sort();
  const states = names.map(async (name) => {
    const path = join(directory, name);
    const { mode, uid, gid, size, mtimeMs, ctimeMs } = await lstat(path);
    const bytes = (await lstat(path)).isDirectory() ? '' : await readFile(path, 'base64');
    return { name, mode, uid, gid, size, mtimeMs, ctimeMs, bytes };
  });
  return [...(await Promise.all(states)), (await lstat(directory)).mtimeMs];
}

interface Naming {
  environment(url: string): Promise<NodeJS.ProcessEnv>;
  from(url: string): Promise<string[]>;
  to(url: string): Promise<string[]>;
}

/** The file is outside of the directory that a test compares. */
async function fileWith(url: string): Promise<string> {
  const file = join(await mkdtemp(join(folder, 'url-')), 'database_url');
  await writeFile(file, `${url}\n`);
  return file;
}

const byUrl: Naming = {
  environment: async (url) => ({ DATABASE_URL: url }),
  from: async (url) => ['--from', url],
  to: async (url) => ['--to', url],
};
const byFile: Naming = {
  environment: async (url) => ({ DATABASE_URL_FILE: await fileWith(url) }),
  from: async (url) => ['--from-file', await fileWith(url)],
  to: async (url) => ['--to-file', await fileWith(url)],
};

/** The words of each command that opens a database, and those that name it otherwise. */
async function callsOn(path: string, named: Naming): Promise<string[][]> {
  const [url, mine] = [`file:${path}`, `file:${ours}`];
  const [from, to] = [await named.from(url), await named.to(url)];
  const better: Record<string, string[][]> = {
    restore: [['restore', backup]],
    'revoke-again': [['revoke-again', '--yes', '--since', '2026-11-21T02:15:30Z', '-']],
    backup: [['backup', join(folder, 'ours', 'new.db')]],
    copy: [
      ['copy', '--from', mine, ...to],
      ['copy', ...from, '--to', `${mine}.copy`],
      ['copy', ...from, '--to', `${mine}.copy`, '--last'],
    ],
  };
  const calls: string[][] = [];
  for (const [words, command] of commands) {
    if (command.commands.length > 0 || WITHOUT_DATABASE.has(words.join(' '))) continue;
    const [example] = await examplesOf(words);
    const filled = example?.map((word) =>
      word === 'document.json' ? document : word.replace(/^[A-Z]+_ID$/, randomUUID()),
    );
    calls.push(...(better[words.join(' ')] ?? [filled ?? words]));
  }
  return calls;
}

describe.each(Object.entries(foreign))('%s', (kind, make) => {
  const ways = kind === 'a text' ? { byUrl, byFile } : { byUrl };
  test.each(Object.entries(ways))(
    'is refused by every command, and stays as it is: %s',
    async (_, named) => {
      const directory = await mkdtemp(join(folder, 'place-'));
      const path = join(directory, 'latchkey.db');
      const end = await make(path);
      try {
        await chmod(path, 0o755);
        await utimes(path, 1, 1);
        const before = await stateOf(directory);
        const file = (await lstat(path)).isSymbolicLink() ? await realpath(path) : path;
        const environment = { ...settings, ...(await named.environment(`file:${path}`)) };
        for (const words of await callsOn(path, named)) {
          const run = await runInProcess(words, environment);
          const call = words.join(' ');
          expect(`${run.stdout}${run.stderr}`, call).toContain(`${file} is not a database of`);
          expect(run.code, call).toBe(words[0] === 'serve' ? 78 : 1);
          expect(await stateOf(directory), call).toEqual(before);
        }
      } finally {
        end?.();
      }
      expect(existsSync(`${ours}.copy`)).toBe(false);
    },
  );
});
