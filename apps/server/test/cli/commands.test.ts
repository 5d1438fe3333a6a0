import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type OperationName, operations } from '@latchkey/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textOf } from '../../src/cli/error-texts.ts';
import { runCommand, runInProcess } from '../http/command-process.ts';
import { sqliteDatabase, type TestDatabase } from '../http/databases.ts';

const unknown = randomUUID();

let database: TestDatabase;
beforeAll(async () => {
  database = await sqliteDatabase();
});
afterAll(() => database.remove());

const on = (DATABASE_URL: string, words: readonly string[]) =>
  runInProcess(words, { DATABASE_URL });
const latchkey = (...words: readonly string[]) => on(database.url, words);

/** Runs a command with `--json`, which has to print one line with exactly the operation's object. */
async function jsonOn(url: string, name: OperationName, words: readonly string[]) {
  const { code, stdout, stderr } = await on(url, [...words, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\{.*\}\n$/);
  const object = JSON.parse(stdout);
  expect(operations[name].output.parse(object)).toStrictEqual(object);
  return object;
}

describe('the commands', () => {
  test('delete an application although its grants can’t be ended yet', async () => {
    const own = await sqliteDatabase();
    const json = (name: OperationName, ...words: string[]) => jsonOn(own.url, name, words);
    const app = await json('admin.applications.create', 'app', 'create', 'Acme');
    const ada = await json('admin.accounts.put', 'account', 'put', '--username', 'ada');
    const parties = ['--app', app.id, '--account', ada.id];
    await json('admin.codes.issue', 'code', 'issue', ...parties, '--scope', 'read');
    await json('admin.applications.disable', 'app', 'disable', app.id);
    const file = new DatabaseSync(fileURLToPath(own.url));
    file.exec(`CREATE TRIGGER stop BEFORE DELETE ON grants BEGIN SELECT raise(ABORT, 'stop'); END`);
    expect(await on(own.url, ['app', 'delete', app.id, '--yes'])).toMatchObject({
      code: 0,
      stdout: `Application ${app.id} (Acme) is deleted.\nThe state is deleting: Not all of its grants are written down as revoked yet. A running service does the rest.\n`,
    });
    file.close();
    await own.remove();
  });

  test('say without --json what a person wants to know', async () => {
    const created = await latchkey('app', 'create', 'Acme');
    const [, id, secret] =
      created.stdout.match(
        /^id {2,}(\S{36})\n[\s\S]*^name {2,}Acme\ndisabled {2,}no\n[\s\S]*\n(lk_app_\w{71})\n$/m,
      ) ?? [];
    expect(secret).toBeDefined();
    // To a pipe: whole texts with tabs between them.
    const listed = await latchkey('app', 'list');
    expect(listed.stdout).toMatch(new RegExp(`^${id}\tAcme\tactive\t\t20\\S+\n$`, 'm'));
    expect(listed.stdout).not.toContain(secret);
  });

  test.each([
    ['application_not_found', ['app', 'disable', unknown]],
    ['parameter_invalid', ['account', 'erase', '7']],
    ['parameter_invalid', ['app', 'secret', 'add', unknown, '--expires', 'tomorrow']],
    ['parameter_invalid', ['grant', 'list', '--account', '7']],
  ] as const)('refuse with %s and exit code 1: %j', async (error_code, words) => {
    const { code, stdout, stderr } = await latchkey(...words, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [first, second] = stderr.split('\n');
    expect(first).toBe(`${error_code}: ${textOf(error_code)}`);
    expect(second === '').toBe(error_code !== 'parameter_invalid');
  });

  test.each([
    [['nonsense']],
    [['app']],
    [['app', 'create']],
    [['app', 'create', 'Acme', 'Company']],
    [['app', 'list', '--nonsense']],
    [['app', 'secret', 'revoke', unknown]],
    [['account', 'put']],
    [['code', 'issue', '--app', unknown]],
    [['grant', 'list']],
    [['grant', 'list', '--account', unknown, '--app', unknown]],
    [[]],
  ])('take %j for bad usage, exit code 2', async (words) => {
    const { code, stdout, stderr } = await latchkey(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^(error: |Usage: )/);
  });

  test('help who asks for it, exit code 0', async () => {
    const { code, stdout, stderr } = await latchkey('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['serve', 'app', 'account', 'code', 'grant']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
    }
  });

  test.each([
    [['app', 'list']],
    [['app', 'create', 'Acme']],
    [['grant', 'list', '--app', unknown]],
    [['doctor', '--json']],
  ])('refuse a database that keeps nothing: %j', async (words) => {
    const { code, stdout, stderr } = await runInProcess(words, { DATABASE_URL: 'file::memory:' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL file::memory: .*\n$/);
  });

  test.each([
    [['app', 'list'], { DATABASE_URL: 'mysql://u:quicksilver@h/d' }, 'DATABASE_URL'],
    [['app', 'list'], { DATABASE_URL: '' }, 'DATABASE_URL'],
    [['serve'], { PORT: 'quicksilver' }, 'PORT'],
    [['serve'], { ADMIN_SECRET: 'quicksilver' }, 'ADMIN_SECRET'],
    [['serve'], { DATABASE_URL: '' }, 'DATABASE_URL'],
    [['serve'], { NODE_ENV: 'production' }, 'DATABASE_URL'],
    [['demo'], { NODE_ENV: 'production' }, 'DATABASE_URL'],
  ])('stop at a bad setting with one line: %j %j', async (words, environment, name) => {
    const { code, stdout, stderr } = await runInProcess(words, environment);
    // A supervisor that is told so does not restart the service in vain.
    expect({ code, stdout }).toEqual({ code: words[0] === 'serve' ? 78 : 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${name} .*Example: ${name}=.*\\n$`));
    expect(stderr).not.toContain('quicksilver');
  });

  test('say in short why a database can’t be opened', async () => {
    const url = 'file:/dev/null/latchkey.db';
    const { code, stderr } = await runInProcess(['app', 'list'], { DATABASE_URL: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^store_unavailable: .*\n {2}.*\/dev\/null\/latchkey\.db.*\n$/);
  });

  test.each([
    [{ DATABASE_URL: 'file:./never-made.db' }, 'DATABASE_URL is set'],
    [{ DATABASE_URL: 'mongodb://127.0.0.1:1/latchkey' }, 'DATABASE_URL is set'],
    [{ ADMIN_SECRET: 'a-secret-of-thirty-two-characters' }, 'ADMIN_SECRET is set'],
    [{ HOST: '0.0.0.0' }, 'HOST is not a loopback address'],
    [{ PUBLIC_URL: 'https://link.example' }, 'PUBLIC_URL does not name a loopback host'],
    [{ TRUST_PROXY: 'true' }, 'TRUST_PROXY is on'],
  ])('make no demo with %j', async (environment, obstacle) => {
    const { code, stdout, stderr } = await runInProcess(['demo'], environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${obstacle}, .*latchkey app create.*\n$`));
    expect(existsSync('never-made.db')).toBe(false);
  });
});

describe('the program', () => {
  test('prints to its own output, and exits with the code of the command', async () => {
    const settings = { DATABASE_URL: database.url };
    const done = await runCommand(['app', 'create', 'Acme', '--json'], settings);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(done.stdout)).toMatchObject({ object: 'application', name: 'Acme' });
    const refused = await runCommand(['app', 'enable', unknown], settings);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^application_not_found: /);
    const badUsage = await runCommand(['nonsense'], settings);
    expect(badUsage).toMatchObject({ code: 2, stdout: '' });
    expect(badUsage.stderr).toMatch(/^error: /);
  });
});
