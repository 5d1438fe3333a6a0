import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { cli, commandOn, env } from '../../test/command.ts';
import { CLIENT, startFaultyServer } from '../../test/faulty-server.ts';
import { Hosts } from '../hosts.ts';
import { Browser } from '../http/browser.ts';
import { commandLogin } from './command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth-race-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A command that runs a program. The shell waits for it. */
async function commandOf(program: string): Promise<string> {
  const file = join(await mkdtemp(join(folder, 'program-')), 'program.mjs');
  await writeFile(file, program);
  return `"${process.execPath}" "${file}"; exit $?`;
}

const browser = new Browser({ redirectUri: '', hosts: new Hosts([]), timeout: 1 });

test('a command prints codes, and does not see the secrets', async () => {
  const command = await commandOf(`
const { OAUTH_RACE_SECRET, OAUTH_RACE_OTHER_SECRET, AUTHORIZATION_URL } = process.env;
if (OAUTH_RACE_SECRET ?? OAUTH_RACE_OTHER_SECRET) throw new Error('It has a secret.');
const { headers } = await fetch(AUTHORIZATION_URL, { redirect: 'manual' });
console.log('A line before it.');
console.log(headers.get('location'));`);
  const words = ['--login-command', command, '--row=replay'];
  const { exitCode, stdout } = await commandOn([], ...words);
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
});

test.each([
  ['exit 3', 'ended with 3: run it alone with AUTHORIZATION_URL set to see why'],
  [
    'echo First. >&2; echo "No user at /callback?code=abcdef&x=1" >&2; exit 3',
    'ended with 3: No user at /callback?code=…&x=1',
  ],
])('a command that fails ends in the row: %s', async (command, said) => {
  const { exitCode, stdout } = await commandOn([], '--login-command', command);
  expect(exitCode).toBe(2);
  expect(stdout).toContain(`The login failed: the command ${said}\n`);
});

test('of what a command prints, no more than the end is kept', async () => {
  const login = commandLogin("head -c 100000 /dev/zero | tr '\\0' a; echo the-end", 600_000);
  expect(await login('', browser)).toMatch(/^a{65528}the-end$/);
});

test('a command that is too late is ended with everything that it has started', async () => {
  const login = commandLogin('sleep 600; echo too-late', 100);
  // Only when nobody holds its output any more, the login is over.
  await expect(login('', browser)).rejects.toThrow('the command ended with a signal');
});

test('a command ends with the tool', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const listener = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const command = await commandOf(`
import { connect } from 'node:net';
connect(${port}, '127.0.0.1');`);
  const words = ['--issuer', server.url, '--client', CLIENT.id, '--login-command', command];
  const tool = spawn(process.execPath, [cli, ...words], { env });
  const [socket] = await once(listener, 'connection');
  socket.on('error', () => undefined).resume();
  tool.kill('SIGTERM');
  await once(socket, 'close');
  if (tool.exitCode === null) await once(tool, 'exit');
  expect(tool.exitCode).toBe(143);
});
