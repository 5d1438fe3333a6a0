import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { slow } from '@latchkey/test-kit/long';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { invoke, send } from '../http/call.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
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
    // Once its processes have ended: what is said first comes last.
    onTestFinished(() => rm(folder, { recursive: true }));
    url = `file:${join(folder, 'latchkey.db')}`;
  });

  /** Fills the disk under load, and makes room again: all that was answered has to hold. */
  async function fillAndMakeRoom(server: ServerProcess, full: () => unknown, room: () => unknown) {
    const linked = await linkedApplication(server);
    const { bearer, account_id } = linked;
    const { code } = await linked.issue();
    const convert = (code: string) => invoke(server, 'REST', 'grants.convert', { code }, bearer);
    const put = () =>
      invoke(server, 'REST', 'admin.accounts.put', { account_id, username: 'ada' }, operator);

    const load = new Load(server, linked, seededRandom('a full disk'));
    load.start(4);
    while (load.linked < 5) await sleep(1);
    full();
    // The write-ahead log is used again after a checkpoint, so only what lets the database grow is refused.
    const names = { username: 'n'.repeat(200), display_name: 'n'.repeat(200) };
    const putNew = () =>
      invoke(
        server,
        'REST',
        'admin.accounts.put',
        { ...names, account_id: randomUUID() },
        operator,
      );
    let refused: Awaited<ReturnType<typeof putNew>>;
    let left = 5_000;
    do {
      if (left-- === 0) expect.fail('The disk does not get full.');
      refused = await putNew();
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

  /** Another program on its disk, which takes all the room there is. */
  const ballastOf = ({ pid }: ServerProcess) => {
    const ballast = `/proc/${pid}/root${folder}/ballast`;
    return {
      // Ends with ENOSPC.
      fill: () => spawnSync('sh', ['-c', 'cat /dev/zero > "$0"', ballast]),
      clear: () => execFileSync('rm', [ballast]),
    };
  };

  test('on a disk that is full goes on once there is room', async ({ skip }) => {
    skip(!canMount, 'nothing can be mounted');
    const server = await startProcess(
      url,
      { MIN_FREE_MB: '0' },
      withMounts('mount -t tmpfs -o size=12m tmpfs "$0"', folder),
    );
    const { fill, clear } = ballastOf(server);
    await fillAndMakeRoom(server, fill, clear);
  });

  test(
    'on a disk that another program fills to the last byte ends what it is asked to',
    slow,
    async ({ skip }) => {
      skip(!canMount, 'nothing can be mounted');
      const server = await startProcess(
        url,
        {},
        withMounts('mount -t tmpfs -o size=160m tmpfs "$0"', folder),
      );
      const linked = await linkedApplication(server);
      const { bearer } = linked;
      const grants = await Promise.all(Array.from({ length: 1_000 }, () => linked.link()));
      const reserve = `/proc/${server.pid}/root${folder}/latchkey.db-reserve`;
      await expect.poll(() => existsSync(reserve), { timeout: 20_000 }).toBe(true);
      const { fill, clear } = ballastOf(server);
      fill();
      const { application_id, account_id } = linked;
      const code = { application_id, account_id, scope: 'profile.read' };
      const issue = async () =>
        (await invoke(server, 'REST', 'admin.codes.issue', code, operator)).body.error_code;
      await expect.poll(issue, { timeout: 20_000 }).toBe('store_full');
      // One after the other, so that each has a commit of its own.
      for (const { grant_id } of grants) {
        const { status, body } = await invoke(
          server,
          'REST',
          'grants.revoke',
          { grant_id },
          bearer,
        );
        expect([status, body.revoked]).toEqual([200, true]);
      }
      expect((await send(server, { method: 'GET', path: '/readyz' })).status).toBe(200);
      for (const grant of grants) {
        const { status } = await invoke(server, 'REST', 'account.get', {}, asBearer(grant));
        expect(status).toBe(401);
      }
      clear();
      await expect.poll(issue, { timeout: 20_000 }).toBeUndefined();
      expect(await server.stop()).toBe(0);
    },
  );

  test('needs no room for temporary files', async ({ skip }) => {
    skip(!canMount, 'nothing can be mounted');
    // SQLite only looks whether it may write there.
    const temporary = join(folder, 'temporary');
    await mkdir(temporary);
    const server = await startProcess(
      url,
      { SQLITE_TMPDIR: temporary },
      withMounts('mount -t tmpfs -o size=16k tmpfs "$0"', temporary),
    );
    const linked = await linkedApplication(server);
    const { bearer, account_id, application_id } = linked;
    const grants = await Promise.all(Array.from({ length: 400 }, () => linked.link()));
    const revoked = await Promise.all(
      grants
        .slice(0, 100)
        .map(({ grant_id }) => invoke(server, 'REST', 'grants.revoke', { grant_id }, bearer)),
    );
    expect(new Set(revoked.map(({ status }) => status))).toEqual(new Set([200]));
    const connection = { account_id, application_id };
    const ended = await invoke(server, 'REST', 'admin.connections.revoke', connection, operator);
    expect([ended.status, ended.body.data.length]).toEqual([200, 300]);
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
