import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { credentialPattern } from '@latchkey/schema';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { slow } from '@latchkey/test-kit/long';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CannotStart } from '../../src/cli/cannot-start.ts';
import { describeListenError } from '../../src/cli/serve.ts';
import { driverOf } from '../../src/open-store.ts';
import { CannotListen } from '../../src/start-server.ts';
import { type CommandProcess, runCommand, startCommand } from '../http/command-process.ts';

const LISTENS = /^Latchkey listens on (http:\/\/127\.0\.0\.1:\d+), its API .*\/docs$/m;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-serve-'));
});
afterAll(() => rm(directory, { recursive: true }));

let running: CommandProcess[] = [];
afterEach(async () => {
  for (const command of running) command.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  running = [];
});

async function serve(environment: NodeJS.ProcessEnv) {
  const command = startCommand(['serve'], { PORT: '0', ...environment }, { directory });
  running.push(command);
  const [, url = ''] = await command.printed(LISTENS);
  return { ...command, url };
}

const onlyAddresses = (file: string) =>
  new RegExp(`${LISTENS.source.slice(0, -1)}\nIts database is ${join(directory, file)}$`);

async function stop(command: CommandProcess): Promise<void> {
  command.kill('SIGTERM');
  expect((await command.ended).code).toBe(0);
}

/** Runs what was printed to be pasted, one command after the other, and parses what each prints. */
async function paste(text: string) {
  const commands = text.match(/^curl (?:.*\\\n)+.*$/gm) ?? [];
  const answers = [];
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(stdout).toMatch(/\n$/);
    answers.push(JSON.parse(stdout));
  }
  return answers;
}

const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
);

describe('serve', () => {
  test('makes a demo on a new default database, and no second one', async ({ skip }) => {
    skip(!hasCurl, 'there is no curl');
    const first = await serve({});
    await first.printed(/"grant_id":"[^"]+"\}'\n/);
    const [grant, revoked] = await paste(first.run.stdout);
    expect(grant).toMatchObject({ object: 'oauth_grant', revoked: false });
    expect(revoked).toMatchObject({ grant_id: grant.grant_id, revoked: true });
    const invitation = (url: string) => `Open ${url}/demo to link an account in your browser.\n`;
    expect(first.run.stdout).toContain(invitation(first.url));
    expect((await fetch(`${first.url}/demo`)).status).toBe(200);
    await stop(first);

    const second = await serve({});
    await second.printed(/For a demo to paste: latchkey demo\b.*\n/);
    expect(second.run.stdout).not.toMatch(credentialPattern);
    expect(second.run.stdout).not.toContain('curl');
    const { stdout } = await runCommand(['app', 'list', '--json'], {}, directory);
    const names = JSON.parse(stdout).data.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['Demo', 'Demo Application']);
    const demo = await runCommand(['demo'], {}, directory);
    expect(demo.stdout).toContain(invitation(second.url));
    const answers = await paste(demo.stdout);
    expect(answers.map(({ revoked: state }) => state)).toEqual([false, true]);
    await stop(second);
  });

  test(
    'makes no demo where ADMIN_SECRET is set, and warns of one that was made before',
    slow,
    async () => {
      await rm(join(directory, 'data'), { recursive: true, force: true });
      const first = await serve({});
      await first.printed(/^The application secret .* works until .*\n/m);
      await stop(first);
      const DATABASE_URL = `file:${join(directory, 'data/latchkey.db')}`;
      const openStore = () => driverOf(DATABASE_URL).open(DATABASE_URL, { clock: Date.now });
      const made = await openStore();
      expect(await made.findEndpoint(DEMO_ENDPOINT_ID)).not.toBeNull();
      await made.close();
      const ADMIN_SECRET = 'a-secret-of-thirty-two-characters';
      for (const environment of [{ ADMIN_SECRET }, { DATABASE_URL }]) {
        const second = await serve(environment);
        await expect
          .poll(() => second.run.stderr)
          .toContain('the demo application works on this database: disable it');
        expect(second.run.stderr).toContain('a demo secret works on this database');
        await stop(second);
        const store = await openStore();
        expect(await store.findEndpoint(DEMO_ENDPOINT_ID)).toBeNull();
        await store.close();
        expect(second.run.stdout.trim()).toMatch(onlyAddresses('data/latchkey.db'));
      }
    },
  );

  test('makes nothing up where DATABASE_URL is set, and names settings with a letter wrong', async () => {
    const DATABASE_URL = `file:${join(directory, 'other.db')}`;
    const server = await serve({
      DATABASE_URL,
      NODE_ENV: 'production',
      ADMIN_SECRT: 'quicksilver',
      TRUST_PROXI: 'true',
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await stop(server);
    const lines = server.run.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const warnings = lines.filter(({ variable }) => variable !== undefined);
    expect(warnings.map(({ variable, setting }) => [variable, setting])).toEqual([
      ['ADMIN_SECRT', 'ADMIN_SECRET'],
      ['TRUST_PROXI', 'TRUST_PROXY'],
    ]);
    expect(server.run.stderr).not.toContain('quicksilver');
    expect(server.run.stdout.trim()).toMatch(onlyAddresses('other.db'));
    const { stdout } = await runCommand(['app', 'list', '--json'], { DATABASE_URL });
    expect(JSON.parse(stdout).data).toEqual([]);
  });

  test('reads the files of its secrets again at SIGHUP, and goes on', async () => {
    const files = { ADMIN_SECRET_FILE: 'now', ADMIN_SECRET_PREVIOUS_FILE: 'before' };
    const [now, before] = Object.values(files).map((name) => join(directory, name)) as [
      string,
      string,
    ];
    const [first, second] = ['first', 'second'].map((word) => `the-${word}-secret-of-the-operator`);
    await writeFile(now, `${first}\n`);
    await writeFile(before, `${first}\n`);
    const server = await serve({
      DATABASE_URL: 'file::memory:',
      ADMIN_SECRET_FILE: now,
      ADMIN_SECRET_PREVIOUS_FILE: before,
    });
    const statusOf = async (secret = '') => {
      // The log has the id of a request, but no query.
      const id = secret === first ? { 'x-request-id': first } : {};
      const headers = { authorization: `Bearer ${secret}`, ...id };
      return (await fetch(`${server.url}/admin/applications?x=${secret}`, { headers })).status;
    };
    const isTold = (msg: string, times = 1) =>
      expect.poll(() => server.run.stderr.split(`"msg":"${msg}"`).length - 1).toBe(times);
    // 400, since the query has an unknown member.
    expect([await statusOf(first), await statusOf(second)]).toEqual([400, 401]);

    await writeFile(now, `${second}\n`);
    server.kill('SIGHUP');
    await isTold('the secrets were read again');
    expect([await statusOf(first), await statusOf(second)]).toEqual([400, 400]);

    await rm(before);
    server.kill('SIGHUP');
    await isTold('the secrets stay as they were');
    await writeFile(before, 'too short');
    server.kill('SIGHUP');
    await isTold('the secrets stay as they were', 2);
    expect([await statusOf(first), await statusOf(second)]).toEqual([400, 400]);

    await writeFile(before, second ?? '');
    server.kill('SIGHUP');
    await isTold('the secrets were read again', 2);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 400]);
    const headers = { authorization: `Bearer ${second}` };
    const told = await (await fetch(`${server.url}/admin/settings`, { headers })).text();
    for (const name of ['ADMIN_SECRET', 'ADMIN_SECRET_PREVIOUS']) {
      expect(told).toContain(JSON.stringify({ name, value: null, source: 'file' }));
    }
    expect(told).not.toMatch(/-secret-of-the-operator/);
    await stop(server);
    expect(server.run.stderr).toContain('"changed":["ADMIN_SECRET"]');
    expect(server.run.stderr).toContain('"changed":["ADMIN_SECRET_PREVIOUS"]');
    expect(server.run.stderr).not.toMatch(/-secret-of-the-operator/);
  });

  test('stops when its terminal is closed', slow, async ({ skip }) => {
    const absent = spawnSync('script', ['--version']).status !== 0;
    skip(absent, 'not run: the command script is not installed');
    const command = startCommand(
      ['serve'],
      { PORT: '0', DATABASE_URL: 'file::memory:' },
      { directory, within: ['sh', '-c', 'exec script -qefc "$*" /dev/null', 'sh'] },
    );
    running.push(command);
    const [, url = ''] = await command.printed(/listens on (http:\S+\d),/);
    const isUp = () => fetch(`${url}/healthz`).then(Boolean, () => false);
    expect(await isUp()).toBe(true);
    // The terminal goes with the program that has made it.
    command.kill('SIGKILL');
    await expect.poll(isUp).toBe(false);
  });

  test.each([
    ['SIGTERM', ['draining', 'closing', 'closed']],
    // From a person: no load balancer is to be waited for.
    ['SIGINT', ['closing', 'closed']],
  ] as const)('drains at SIGTERM only: %s', async (signal, expected) => {
    const server = await serve({ DATABASE_URL: 'file::memory:', DRAIN_SECONDS: '1' });
    server.kill(signal);
    const { code, stderr } = await server.ended;
    const told = [...stderr.matchAll(/"msg":"(draining|closing|closed)"/g)].map(([, msg]) => msg);
    expect({ code, told }).toEqual({ code: 0, told: expected });
  });

  test('a second signal ends the draining at once', async () => {
    const server = await serve({ DATABASE_URL: 'file::memory:', DRAIN_SECONDS: '3600' });
    server.kill('SIGTERM');
    await expect.poll(() => server.run.stderr).toContain('"draining"');
    server.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    expect(code).toBe(1);
    expect(stderr).not.toContain('"closing"');
  });

  test('names PORT in one line where the port is taken', async () => {
    const DATABASE_URL = 'file::memory:';
    const server = await serve({ DATABASE_URL });
    const { port } = new URL(server.url);
    const second = await runCommand(['serve'], { DATABASE_URL, PORT: port });
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(
      new RegExp(`^PORT ${port} is in use on 127\\.0\\.0\\.1\\. .*Example: PORT=\\d+\\n$`),
    );
  });

  test(
    'names ADMIN_PORT in one line where that port is taken, and leaves PORT free',
    slow,
    async () => {
      const DATABASE_URL = 'file::memory:';
      const server = await serve({ DATABASE_URL });
      const { port } = new URL(server.url);
      const second = await runCommand(['serve'], { DATABASE_URL, PORT: '0', ADMIN_PORT: port });
      expect(second).toMatchObject({ code: 1, stdout: '' });
      expect(second.stderr).toMatch(
        new RegExp(
          `^ADMIN_PORT ${port} is in use on 127\\.0\\.0\\.1\\. .*Example: ADMIN_PORT=\\d+\\n$`,
        ),
      );
    },
  );

  test('names ADMIN_HOST in one line', slow, async () => {
    const admin = { ADMIN_PORT: '0', ADMIN_HOST: 'nowhere.invalid' };
    const environment = { DATABASE_URL: 'file::memory:', PORT: '0', ...admin };
    const { code, stdout, stderr } = await runCommand(['serve'], environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^ADMIN_HOST nowhere\.invalid is not an address of this machine\. .*\n$/,
    );
  });

  test('opens no debugger at SIGUSR1', slow, async () => {
    const server = await serve({ DATABASE_URL: 'file::memory:' });
    server.kill('SIGUSR1');
    // Node starts the debugger on a thread of its own. It would have said so before the process ends.
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await stop(server);
    expect(server.run.stderr).not.toContain('Debugger');
  });

  // 192.0.2.1 is reserved for documentation, and .invalid is the domain that never exists.
  test.each(['192.0.2.1', 'nowhere.invalid'])('names HOST in one line: %s', slow, async (HOST) => {
    const environment = { DATABASE_URL: 'file::memory:', PORT: '0', HOST };
    const { code, stdout, stderr } = await runCommand(['serve'], environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^HOST \S+ is not an address of this machine\. .*Example: HOST=\S+\n$/);
  });

  test('prints the path of its database, wherever a relative one begins', async () => {
    const server = await serve({ DATABASE_URL: 'file:./here/a b.db' });
    await server.printed(/^Its database is .*\n/m);
    expect(server.run.stdout).toContain(`Its database is ${join(directory, 'here/a b.db')}\n`);
    await stop(server);
  });

  test.each([
    ['file://elsewhere/a.db', 'file:./elsewhere/a.db or file:///elsewhere/a.db'],
    ['file:./elsewhere.db?connection_limit=1', 'file:./elsewhere.db'],
    ['file:./else%20where.db', 'file:./else where.db'],
    ['sqlite:./elsewhere.db', 'file:./elsewhere.db'],
    ['file:~/a.db', 'file:/home/of/somebody/a.db'],
  ])(
    'exits with 78 at %s, makes nothing, and says how to write it',
    async (DATABASE_URL, meant) => {
      const before = await readdir(directory);
      const environment = { DATABASE_URL, HOME: '/home/of/somebody' };
      const { code, stdout, stderr } = await runCommand(['serve'], environment, directory);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toMatch(/^DATABASE_URL must .+\n$/);
      expect(stderr).toContain(`; write ${meant}. Example: DATABASE_URL=file:`);
      expect(await readdir(directory)).toEqual(before);
    },
  );

  test('exits with 78 with an ADMIN_SECRET in quotes, as docker run --env-file leaves it', async () => {
    const environment = { DATABASE_URL: 'file::memory:', PORT: '0' };
    const ADMIN_SECRET = '"a-secret-of-thirty-two-characters"';
    const { code, stderr } = await runCommand(['serve'], { ...environment, ADMIN_SECRET });
    expect(code).toBe(78);
    expect(stderr).toMatch(/^ADMIN_SECRET must have no quotes around it, .+\n$/);
    expect(stderr).not.toContain('thirty-two');
  });

  test('exits with 78 where the database URL can not be used, so that nobody restarts it', async () => {
    const DATABASE_URL = 'mongodb://127.0.0.1/latchkey?nonsense=1';
    const { code, stdout, stderr } = await runCommand(['serve'], { DATABASE_URL });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: .*nonsense.*\n$/);
  });

  test('exits with 78 where this user may not have the port', () => {
    const error = Object.assign(new Error(), { code: 'EACCES', syscall: 'listen' });
    const settings = {
      host: { name: 'HOST', value: '0.0.0.0' },
      port: { name: 'ADMIN_PORT', value: 80 },
    } as const;
    const told = describeListenError(new CannotListen(settings, error));
    expect(told).toBeInstanceOf(CannotStart);
    expect(told).toMatchObject({ message: expect.stringMatching(/^ADMIN_PORT 80 is not allowed/) });
    // Of a file, it is another matter.
    const other = Object.assign(new Error(), { code: 'EACCES', syscall: 'open' });
    expect(describeListenError(new CannotListen(settings, other))).toBe(other);
  });

  test('starts without its database, and shows no password of it', async () => {
    const server = await serve({
      DATABASE_URL:
        'mongodb://latchkey:quick%22silver@127.0.0.1:1/latchkey?serverSelectionTimeoutMS=300',
      LOG_LEVEL: 'trace',
      ADMIN_SECRET: 'lime"water\\and-twenty-letters-more',
    });
    const headers = { authorization: 'Bearer lime"water\\and-twenty-letters-more' };
    const answer = await fetch(`${server.url}/admin/applications`, { headers });
    expect(answer.status).toBe(503);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await stop(server);
    const { stdout, stderr } = server.run;
    expect(stderr).toContain('store_unavailable');
    expect(stdout + stderr).not.toMatch(/quick|silver|lime|twenty-letters/);
  });
});
