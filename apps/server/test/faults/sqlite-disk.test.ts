import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { invoke, send } from '../http/call.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { launchServer, listening, type ServerProcess } from '../http/served-process.ts';
import { Load } from './load.ts';
import { canMount, withMounts } from './mount-namespace.ts';
import { startProcess } from './server-process.ts';

const canUnshareUser = spawnSync('unshare', ['--user', 'true']).status === 0;
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

describe('SQLite', () => {
  let folder: string;
  let url: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-disk-'));
    url = `file:${join(folder, 'latchkey.db')}`;
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Fills the disk under load, and makes room again: all that was answered has to hold. */
  async function fillAndMakeRoom(server: ServerProcess, full: () => unknown, room: () => unknown) {
    const linked = await linkedApplication(server);
    const { bearer, account_id } = linked;
    // A write that fails leaves its part of the write-ahead log as room for smaller writes. Each of
    // these takes a page of that room at least, until one is refused.
    const codes = await Promise.all(Array.from({ length: 100 }, () => linked.issue()));
    const convert = (code: string) => invoke(server, 'REST', 'grants.convert', { code }, bearer);
    const put = () =>
      invoke(server, 'REST', 'admin.accounts.put', { account_id, username: 'ada' }, operator);

    const load = new Load(server, linked, seededRandom('a full disk'));
    load.start(4);
    while (load.linked < 5) await sleep(1);
    full();
    let refused: Awaited<ReturnType<typeof convert>>;
    let code: string;
    do {
      ({ code } = codes.pop() ?? expect.fail('The disk does not get full.'));
      refused = await convert(code);
    } while (refused.status === 200);
    expect([refused.status, refused.body.error_code]).toEqual([503, 'store_unavailable']);
    // What needs no room is answered.
    expect((await send(server, { method: 'GET', path: '/readyz' })).status).toBe(200);
    await sleep(200);
    room();
    while ((await put()).status !== 200) await sleep(1);
    expect((await convert(code)).status).toBe(200);
    await load.stop();
    await load.verify();
  }

  test('on a disk that is full goes on once there is room', async ({ skip }) => {
    skip(!canMount, 'nothing can be mounted');
    const server = await startProcess(
      url,
      {},
      withMounts('mount -t tmpfs -o size=12m tmpfs "$0"', folder),
    );
    const ballast = `/proc/${server.pid}/root${folder}/ballast`;
    await fillAndMakeRoom(
      server,
      // Ends with ENOSPC, when it has taken all the room there is.
      () => spawnSync('sh', ['-c', 'cat /dev/zero > "$0"', ballast]),
      () => execFileSync('rm', [ballast]),
    );
  });

  test('whose files may not grow goes on once they may', async ({ skip }) => {
    skip(!hasPrlimit, 'there is no prlimit');
    const server = await startProcess(url);
    const limit = (size: string) =>
      execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${size}:`]);
    await fillAndMakeRoom(
      server,
      () => limit('4096'),
      () => limit('unlimited'),
    );
  });

  // Root may write whatever the mode says; in a user namespace it may not, as any other user.
  const isRoot = process.getuid?.() === 0;
  const asOwner = isRoot ? ['unshare', '--user'] : [];

  test('whose file is read-only is refused at the start, and is as good as before', async ({
    skip,
  }) => {
    skip(isRoot && !canUnshareUser, 'root can have no user namespace');
    const made = await startProcess(url, {}, asOwner);
    const linked = await linkedApplication(made);
    const { code } = await linked.issue();
    await made.stop();

    const file = join(folder, 'latchkey.db');
    await chmod(file, 0o444);
    const refused = launchServer(url, { within: asOwner });
    const outcome = await Promise.race([refused.ended, listening(refused)]);
    refused.kill('SIGKILL');
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/latchkey\.db cannot be opened: .* this user may write to it/),
    });

    await chmod(file, 0o600);
    const server = await startProcess(url, {}, asOwner);
    const converted = await invoke(server, 'REST', 'grants.convert', { code }, linked.bearer);
    expect(converted.status).toBe(200);
  });
});
