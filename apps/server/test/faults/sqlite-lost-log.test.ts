import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FullGrant } from '@latchkey/schema';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { send, succeed } from '../http/call.ts';
import { runCommand, runInProcess, startCommand } from '../http/command-process.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { launchServer, listening, type ServerProcess } from '../http/served-process.ts';
import { canMount, withMounts } from './mount-namespace.ts';
import { startProcess } from './server-process.ts';

let folder: string;
const file = (...names: string[]) => join(folder, ...names);
const at = (...names: string[]) => ({ DATABASE_URL: `file:${file(...names)}` });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-lost-log-'));
  // Once its processes have ended: what is said first comes last.
  onTestFinished(() => rm(folder, { recursive: true }));
});

const statusOf = async (server: { url: string }, grant: FullGrant) =>
  (await send(server, { method: 'GET', path: '/v1/grant', authorization: asBearer(grant) })).status;

async function start(place: string): Promise<ServerProcess> {
  return startProcess(at(place).DATABASE_URL, { LOG_LEVEL: 'info' });
}

/** A grant is revoked, and the log of the database thrown away with the folder of a container. */
async function lose() {
  const server = await start('first.db');
  const linked = await linkedApplication(server);
  const [kept, revoked] = [await linked.link(), await linked.link()];
  await server.stop();
  await server.restart();
  await succeed(server, 'grants.revoke', { grant_id: revoked.grant_id }, linked.bearer);
  expect(await statusOf(server, revoked)).toBe(401);
  await server.kill();
  await cp(file('first.db'), file('latchkey.db'));
  await writeFile(file('service.log'), server.log);
  return { kept, revoked };
}

describe('a database whose log was lost in a kill', () => {
  test('stops the start, and every command, until the logs of the service have revoked again', async () => {
    const { kept, revoked } = await lose();
    const before = await readFile(file('latchkey.db'));
    const refused = await runCommand(['serve'], at('latchkey.db'));
    expect(refused).toMatchObject({ code: 78, stdout: '' });
    const since = /may lack what was changed since (\S+), such as revocations/.exec(
      refused.stderr,
    )?.[1] as string;
    expect(refused.stderr).toContain(`latchkey revoke-again --since ${since}`);
    expect(refused.stderr).toContain('latchkey serve --incomplete');
    for (const words of [
      ['app', 'list'],
      ['app', 'create', 'Acme'],
      ['backup', file('backup.db')],
      ['copy', '--from', at('latchkey.db').DATABASE_URL, '--to', `file:${file('copy.db')}`],
      ['migrate'],
    ]) {
      const run = await runInProcess(words, at('latchkey.db'));
      expect([run.code, run.stderr], words.join(' ')).toEqual([
        1,
        expect.stringContaining(`since ${since}`),
      ]);
    }
    const doctor = await runInProcess(['doctor'], at('latchkey.db'));
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(`since ${since}`) });
    expect(await readFile(file('latchkey.db'))).toEqual(before);

    const again = (...words: string[]) =>
      runInProcess(['revoke-again', ...words, '--yes', '--accept-gap'], at('latchkey.db'));
    const late = new Date(Date.parse(since) + 1).toISOString();
    const tooLate = await again(file('service.log'), '--since', late);
    expect([tooLate.code, tooLate.stderr]).toEqual([1, expect.stringContaining(since)]);
    // A run that fails leaves it closed, with whatever log that leaves.
    expect((await again(file('none.log'), '--since', since)).code).toBe(1);
    expect((await runInProcess(['app', 'list'], at('latchkey.db'))).stderr).toContain(since);
    expect(await again(file('service.log'), '--since', since)).toMatchObject({ code: 0 });

    const server = await start('latchkey.db');
    expect([await statusOf(server, kept), await statusOf(server, revoked)]).toEqual([200, 401]);
    expect(await server.stop()).toBe(0);
  });

  test('is used as it is if that is said by name, once', async () => {
    const { revoked } = await lose();
    const server = startCommand(['serve', '--incomplete'], { ...at('latchkey.db'), PORT: '0' });
    // What the refusal warns of.
    expect(await statusOf({ url: await listening(server) }, revoked)).toBe(200);
    await expect.poll(() => server.run.stderr).toContain('was taken into use as it is');
    server.kill('SIGKILL');
    await server.ended;
    await (await start('latchkey.db')).stop();
  });
});

test('a copy of the file of a running service is refused, and one of a stopped service is not', async () => {
  const server = await start('first.db');
  await cp(file('first.db'), file('running.db'));
  expect((await runInProcess(['app', 'list'], at('running.db'))).code).toBe(1);
  // A command closes the file while the service has it.
  expect((await runInProcess(['app', 'create', 'Acme'], at('first.db'))).code).toBe(0);
  await cp(file('first.db'), file('running.db'));
  expect((await runInProcess(['app', 'list'], at('running.db'))).code).toBe(1);
  await server.stop();
  await cp(file('first.db'), file('stopped.db'));
  expect((await runInProcess(['app', 'list'], at('stopped.db'))).stdout).toContain('Acme');
});

test('services that stop at once lose nothing, and a command that is killed leaves its log', async () => {
  const servers = await Promise.all([start('latchkey.db'), start('latchkey.db')]);
  await Promise.all(servers.map((server) => server.stop()));
  // If each saw the other, the log stays.
  expect(await runInProcess(['app', 'list'], at('latchkey.db'))).toMatchObject({ code: 0 });
  for (let round = 0; round < 5; round++) {
    const command = startCommand(['app', 'create', `${round}`], at('latchkey.db'));
    // Later from round to round: at the opening, the change and the closing.
    while (command.run.stdout === '' && !existsSync(file('latchkey.db-wal'))) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await new Promise((resolve) => setTimeout(resolve, 4 * round));
    command.kill('SIGKILL');
    await command.ended;
    expect(await runInProcess(['app', 'list'], at('latchkey.db'))).toMatchObject({ code: 0 });
  }
});

describe('a file that is mounted without its folder', () => {
  test('is refused by serve and named by doctor; its folder may be mounted', async ({ skip }) => {
    skip(!canMount, 'nothing can be mounted');
    await mkdir(file('volume'));
    await mkdir(file('a container'));
    await runInProcess(['app', 'create', 'Acme'], at('volume', 'latchkey.db'));
    await writeFile(file('a container', 'latchkey.db'), '');
    const run = (words: string[], script: string) => {
      const within = withMounts(script, folder);
      const place = at('a container', 'latchkey.db');
      return startCommand(words, { ...place, PORT: '0' }, { within });
    };
    const alone = 'mount --bind "$0/volume/latchkey.db" "$0/a container/latchkey.db"';
    const refused = await run(['serve'], alone).ended;
    expect(refused).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('is mounted without its folder'),
    });
    expect((await run(['doctor'], alone).ended).stdout).toContain('is mounted without its folder');

    const whole = run(['serve'], 'mount --bind "$0/volume" "$0/a container"');
    await listening(whole);
    whole.kill('SIGKILL');
    await whole.ended;
  });
});

test('a symbolic link stays one, and the log is beside the file that it leads to', async () => {
  await mkdir(file('volume'));
  await mkdir(file('data'));
  await symlink('../volume/latchkey.db', file('data', 'latchkey.db'));
  const link = at('data', 'latchkey.db');
  // It leads to a file that the first command creates.
  expect((await runInProcess(['app', 'create', 'Acme'], link)).code).toBe(0);
  await symlink('../volume/backup.db', file('data', 'backup.db'));
  expect((await runInProcess(['backup', file('data', 'backup.db')], link)).code).toBe(0);
  const server = launchServer(link.DATABASE_URL);
  await listening(server);
  expect(existsSync(file('volume', 'latchkey.db-wal'))).toBe(true);
  server.kill('SIGKILL');
  await server.ended;
  const restore = ['restore', file('data', 'backup.db'), '--accept-gap'];
  expect(await runInProcess(restore, link)).toMatchObject({ code: 0 });
  for (const name of ['latchkey.db', 'backup.db']) {
    expect((await lstat(file('data', name))).isSymbolicLink()).toBe(true);
  }
  expect((await runInProcess(['app', 'list'], at('volume', 'latchkey.db'))).stdout).toContain(
    'Acme',
  );
});
