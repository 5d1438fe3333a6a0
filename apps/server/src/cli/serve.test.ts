import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { credentialPattern } from '@latchkey/schema';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CommandProcess, runCommand, startCommand } from '../../test/http/command-process.ts';

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
    answers.push(JSON.parse(stdout));
  }
  return answers;
}

const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
);

describe('serve', { timeout: 60_000 }, () => {
  test.runIf(hasCurl)('makes a demo on a new default database, and no second one', async () => {
    const first = await serve({});
    await first.printed(/"grant_id":"[^"]+"\}'\n/);
    const [grant, revoked] = await paste(first.run.stdout);
    expect(grant).toMatchObject({ object: 'oauth_grant', revoked: false });
    expect(revoked).toMatchObject({ grant_id: grant.grant_id, revoked: true });
    await stop(first);

    const second = await serve({});
    await second.printed(/For a demo to paste: latchkey demo\b.*\n/);
    expect(second.run.stdout).not.toMatch(credentialPattern);
    expect(second.run.stdout).not.toContain('curl');
    const { stdout } = await runCommand(['app', 'list', '--json'], {}, directory);
    expect(JSON.parse(stdout).data).toHaveLength(1);
    const demo = await runCommand(['demo'], { PORT: new URL(second.url).port }, directory);
    const answers = await paste(demo.stdout);
    expect(answers.map(({ revoked: state }) => state)).toEqual([false, true]);
    await stop(second);
  });

  test('makes nothing up where DATABASE_URL is set', async () => {
    const DATABASE_URL = `file:${join(directory, 'other.db')}`;
    const server = await serve({ DATABASE_URL });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await stop(server);
    expect(server.run.stdout.trim()).toMatch(new RegExp(`${LISTENS.source}$`));
    const { stdout } = await runCommand(['app', 'list', '--json'], { DATABASE_URL });
    expect(JSON.parse(stdout).data).toEqual([]);
  });

  test('runs without a file, and ends in order at SIGINT too', async () => {
    const server = await serve({ DATABASE_URL: 'file::memory:' });
    server.kill('SIGINT');
    const { code, stderr } = await server.ended;
    expect(code).toBe(0);
    const messages = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    expect(messages.sort()).toEqual(['closed', 'closing', 'listening']);
  });

  test('tells of a port that is taken in one line', async () => {
    const DATABASE_URL = 'file::memory:';
    const server = await serve({ DATABASE_URL });
    const { port } = new URL(server.url);
    const second = await runCommand(['serve'], { DATABASE_URL, PORT: port });
    expect(second.code).toBe(1);
    expect(second.stderr.trim()).toMatch(/^listen EADDRINUSE.*$/);
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
