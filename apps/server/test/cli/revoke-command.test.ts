import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { runCommand, runInProcess, startCommand } from '../http/command-process.ts';
import { describeOnAnyStore, sqliteDatabase, type TestDatabase } from '../http/databases.ts';
import { manyGrants } from './many-grants.ts';

describeOnAnyStore('grant revoke', (fresh) => {
  const GRANTS = 260;
  let database: TestDatabase;
  let filled: Awaited<ReturnType<typeof manyGrants>>;
  beforeEach(async () => {
    database = await fresh();
    filled = await manyGrants(database.url, GRANTS);
  });
  afterEach(() => database.remove());

  const settings = () => ({ DATABASE_URL: database.url });
  const latchkey = (words: string[], input?: string) =>
    runInProcess(words, settings(), input === undefined ? {} : { input });

  async function grants(): Promise<{ grant_id: string; revoked: boolean }[]> {
    const words = ['grant', 'list', '--app', filled.application.id, '--json'];
    return JSON.parse((await latchkey(words)).stdout).data;
  }
  const active = async () =>
    (await grants()).filter(({ revoked }) => !revoked).map(({ grant_id }) => grant_id);
  const jsonLines = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  test('revokes each grant that it is given, and prints a line for each', async () => {
    const [one = '', two = '', three = ''] = await active();
    const revoked = await latchkey(['grant', 'revoke', one, two.toUpperCase(), '--json']);
    expect(revoked).toMatchObject({ code: 0, stderr: '' });
    const members = { object: 'oauth_grant', created_at: expect.any(String), revoked: true };
    expect(jsonLines(revoked.stdout)).toStrictEqual(
      [one, two].map((grant_id) => ({ ...members, grant_id })),
    );
    expect((await latchkey(['grant', 'revoke', three])).stdout).toBe(
      `Grant ${three} is revoked.\n`,
    );
    expect(await active()).toHaveLength(GRANTS * 0.75 - 3);
  });

  test('takes what grant list prints from stdin, goes on after what it can’t revoke, and says so', async () => {
    const [one, two] = await active();
    const unknown = randomUUID();
    const input = `${one}\tada\tprofile.read\tactive\n\n${unknown}\nno-id\r\n  ${two}`;
    const { code, stdout, stderr } = await latchkey(['grant', 'revoke', '-'], input);
    expect(stdout).toBe(`Grant ${one} is revoked.\nGrant ${two} is revoked.\n`);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^number 2: grant_not_found: [^\n]+\nnumber 3: parameter_invalid: [^\n]+\n {2}grant id: [^\n]+\n2 of 4 grants were not revoked\. The messages above say why\.\n$/,
    );
    const { stdout: nothing } = await latchkey(['grant', 'revoke', '-'], '');
    expect(nothing).toBe('0 grants are revoked.\n');
  });

  test('revokes nothing if an argument is no id', async () => {
    const before = await active();
    const { code, stderr } = await latchkey(['grant', 'revoke', ...before.slice(0, 2), 'no-id']);
    expect(code).toBe(1);
    expect(stderr).toContain('grant id 3: Must be a UUID.');
    expect(await active()).toEqual(before);
  });

  test.each(['--account', '--app'])('revokes every grant of an %s, once', async (option) => {
    const id = option === '--app' ? filled.application.id : filled.account.id;
    const before = await active();
    const { code, stdout } = await latchkey(['grant', 'revoke', option, id, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ...{ object: 'grant_revocations', state: 'revoked' },
      ...{ grants_revoked: before.length, codes_cancelled: 0 },
    });
    expect(await active()).toEqual([]);
    const again = await latchkey(['grant', 'revoke', option, id]);
    expect(again).toEqual({ code: 0, stdout: '0 grants are revoked.\n', stderr: '' });
  });

  test.each(['--account', '--app'])('cancels every pending code of an %s', async (option) => {
    const { application, account } = filled;
    const id = option === '--app' ? application.id : account.id;
    const issue = ['code', 'issue', '--app', application.id, '--account', account.id];
    const { grant_id } = JSON.parse(
      (await latchkey([...issue, '--scope', 'read', '--json'])).stdout,
    );
    const { code, stdout, stderr } = await latchkey(['grant', 'revoke', option, id]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '1 pending code is cancelled.\n' });
    expect(stdout).not.toContain(grant_id);
    const again = await latchkey(['code', 'cancel', grant_id]);
    expect(again.stderr).toMatch(/^grant_not_found: /);
  });

  test('refuses an unknown account and application, and what is given twice or not at all', async () => {
    for (const [option, error] of [
      ['--account', 'account_not_found'],
      ['--app', 'application_not_found'],
    ] as const) {
      const { code, stderr } = await latchkey(['grant', 'revoke', option, randomUUID()]);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(`^${error}: `) });
    }
    for (const words of [[], [randomUUID(), '--app', randomUUID()]]) {
      const { code, stderr } = await latchkey(['grant', 'revoke', ...words]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^error: /) });
    }
  });

  test('goes on where it was interrupted', async () => {
    const words = ['grant', 'revoke', ...(await active())];
    const interrupted = startCommand(words, settings());
    await interrupted.printed(/is revoked/);
    interrupted.kill('SIGKILL');
    await interrupted.ended;
    expect(await runCommand(words, settings())).toMatchObject({ code: 0, stderr: '' });
    expect(await active()).toEqual([]);
  });

  test('goes on to the end if nobody reads what it prints', async () => {
    const { stdout, stderr } = await startCommand(
      ['grant', 'revoke', ...(await active())],
      settings(),
      { within: ['bash', '-c', '"$@" | true; echo "exit $PIPESTATUS"', 'bash'] },
    ).ended;
    expect({ stdout, stderr }).toEqual({ stdout: 'exit 0\n', stderr: '' });
    expect(await active()).toEqual([]);
  });
});

test('a database that fails half way is no reason to say that nothing was changed', async () => {
  const database = await sqliteDatabase();
  onTestFinished(() => database.remove());
  const { application } = await manyGrants(database.url, 100);
  const settings = { DATABASE_URL: database.url };
  const lock = new DatabaseSync(database.url.slice('file:'.length));
  onTestFinished(() => lock.close());
  const { stdout: list } = await runInProcess(['grant', 'list', '--app', application.id], settings);
  const ids = list.match(/^\S+(?=.*\tactive\b)/gm) ?? [];
  expect(ids).toHaveLength(75);
  let [stdout, stderr] = ['', ''];
  async function* input() {
    yield `${ids.slice(0, 50).join('\n')}\n`;
    await vi.waitFor(() => expect(stdout.split('\n')).toHaveLength(51), 60_000);
    lock.exec('BEGIN IMMEDIATE');
    yield ids.slice(50).join('\n');
  }
  const code = await runCommandLine(['grant', 'revoke', '-'], {
    environment: settings,
    stdin: Readable.from(input()),
    stdout: {
      write: (text: string) => {
        stdout += text;
      },
    },
    stderr: {
      write: (text: string) => {
        stderr += text;
      },
    },
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      '50 grants are revoked. Then it failed: store_unavailable, database is locked. Run the same command again to continue.\n',
  });
});
