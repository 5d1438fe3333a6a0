import { randomUUID } from 'node:crypto';
import { errorDefinition, type OperationName, operations } from '@latchkey/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../test/http/command-process.ts';
import { sqliteDatabase, type TestDatabase } from '../../test/http/databases.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await sqliteDatabase();
});
afterAll(() => database.remove());

const on = (DATABASE_URL: string, words: readonly string[]) => runCommand(words, { DATABASE_URL });
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

// Each is a process of its own, and waits mostly for it.
describe.concurrent('the commands', { timeout: 60_000 }, () => {
  test('do on the database what the operations do', async () => {
    const own = await sqliteDatabase();
    const json = (name: OperationName, ...words: string[]) => jsonOn(own.url, name, words);
    const { secret, ...app } = await json(
      'admin.applications.create',
      'app',
      'create',
      'Acme & Co',
    );
    expect(app.name).toBe('Acme & Co');
    expect(secret).toMatch(/^lk_app_/);

    const expires = '2999-01-31T00:00:00Z';
    const adding = ['app', 'secret', 'add', app.id, '--expires', expires];
    const { secret: _, ...added } = await json('admin.applications.secrets.create', ...adding);
    expect(added.expires_at).toBe('2999-01-31T00:00:00.000+00:00');
    const both = { ...app, secrets: [...app.secrets, added] };
    const disabled = await json('admin.applications.disable', 'app', 'disable', app.id);
    expect(disabled).toStrictEqual({ ...both, disabled: true });
    const enabled = await json('admin.applications.enable', 'app', 'enable', app.id);
    expect(enabled).toStrictEqual(both);
    const removing = ['app', 'secret', 'revoke', app.id, added.id];
    const removed = await json('admin.applications.secrets.revoke', ...removing);
    expect(removed).toStrictEqual(app);
    const list = await json('admin.applications.list', 'app', 'list');
    expect(list).toStrictEqual({ object: 'list', data: [app], next_cursor: null });

    const id = randomUUID();
    const putting = ['account', 'put', '--id', id, '--username', 'ada', '--verified'];
    const whole = ['--display-name', 'Ada Lovelace', '--twitter', 'adal', '--supporter'];
    const account = {
      object: 'service_account',
      id,
      username: 'ada',
      display_name: 'Ada Lovelace',
      twitter: 'adal',
      verified: true,
      supporter: true,
    };
    expect(await json('admin.accounts.put', ...putting, ...whole)).toStrictEqual(account);
    const fresh = await json('admin.accounts.put', 'account', 'put', '--username', 'bob');
    expect(fresh).toStrictEqual({
      ...account,
      id: fresh.id,
      username: 'bob',
      display_name: 'bob',
      twitter: null,
      verified: false,
      supporter: false,
    });

    const issuing = ['code', 'issue', '--app', app.id, '--account', id, '--scope', 'a b'];
    const { code, ...issued } = await json('admin.codes.issue', ...issuing);
    expect(code).toMatch(/^lk_code_/);
    const cancelled = await json('admin.codes.cancel', 'code', 'cancel', issued.grant_id);
    expect(cancelled).toStrictEqual({ ...issued, cancelled: true });
    for (const filter of [
      ['--account', id],
      ['--app', app.id],
    ]) {
      const grants = await json('admin.grants.list', 'grant', 'list', ...filter);
      expect(grants).toStrictEqual({ object: 'list', data: [], next_cursor: null });
    }
    await own.remove();
  });

  test('say without --json what a person wants to know', async () => {
    const created = await latchkey('app', 'create', 'Acme');
    const [, id, secret] =
      created.stdout.match(/^(\S{36}) {2}Acme\n[\s\S]*\n(lk_app_\w{71})\n$/) ?? [];
    expect(secret).toBeDefined();
    const listed = await latchkey('app', 'list');
    expect(listed.stdout).toContain(`${id}  Acme`);
    expect(listed.stdout).not.toContain(secret);
  });

  const unknown = randomUUID();
  test.each([
    ['application_not_found', ['app', 'disable', unknown]],
    ['application_not_found', ['app', 'secret', 'add', unknown]],
    ['application_not_found', ['app', 'secret', 'revoke', unknown, unknown]],
    ['grant_not_found', ['grant', 'revoke', unknown]],
    ['grant_not_found', ['code', 'cancel', unknown]],
    [
      'application_not_found',
      ['code', 'issue', '--app', unknown, '--account', unknown, '--scope', 'a'],
    ],
    ['parameter_invalid', ['app', 'enable', '7']],
    ['parameter_invalid', ['app', 'create', '']],
    ['parameter_invalid', ['app', 'secret', 'add', unknown, '--expires', 'tomorrow']],
    ['parameter_invalid', ['account', 'put', '--username', '']],
    ['parameter_invalid', ['grant', 'list', '--account', '7']],
  ] as const)('refuse with %s and exit code 1: %j', async (error_code, words) => {
    const { code, stdout, stderr } = await latchkey(...words, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [first, second] = stderr.split('\n');
    expect(first).toBe(`${error_code}: ${errorDefinition(error_code).description}`);
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
    [['demo']],
  ])('refuse a database that keeps nothing: %j', async (words) => {
    const { code, stdout, stderr } = await runCommand(words, { DATABASE_URL: 'file::memory:' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL file::memory: .*\n$/);
  });

  test.each([
    [['app', 'list'], { DATABASE_URL: 'postgres://u:quicksilver@h/d' }, 'DATABASE_URL'],
    [['serve'], { PORT: 'quicksilver' }, 'PORT'],
    [['serve'], { ADMIN_SECRET: 'quicksilver' }, 'ADMIN_SECRET'],
  ])('stop at a bad setting with one line: %j %j', async (words, environment, name) => {
    const { code, stdout, stderr } = await runCommand(words, environment);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${name} .*Example: ${name}=.*\\n$`));
    expect(stderr).not.toContain('quicksilver');
  });

  test('say in short why a database can’t be opened', async () => {
    const url = 'file:/dev/null/latchkey.db';
    const { code, stderr } = await runCommand(['app', 'list'], { DATABASE_URL: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^store_unavailable: .*\n {2}.*\/dev\/null\/latchkey\.db.*\n$/);
  });
});
