import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { expect, onTestFinished, test } from 'vitest';
import { send, succeed } from '../http/call.ts';
import { runInProcess } from '../http/command-process.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { ServerProcess } from '../http/served-process.ts';

const requirements = fileURLToPath(new URL('./litestream/requirements.txt', import.meta.url));
// In CI, a missing Litestream is a failure: nobody would notice that the test is skipped.
const programs = await installFromRequirements(requirements, 'litestream', process.env).catch(
  (error: Error) => {
    if (process.env.CI) throw error;
    process.stderr.write(`The test beside Litestream is skipped: ${error.message}\n`);
    return null;
  },
);

const NAME = 'a name that a user wants to be erased';

const notRun = programs === null ? ' (not run: Litestream was not installed)' : '';
test.skipIf(programs === null)(
  `beside Litestream an erasure is answered and done, and its replica is restored${notRun}`,
  async () => {
    const litestream = join(programs as string, 'litestream');
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-litestream-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'latchkey.db');
    const environment = { DATABASE_URL: `file:${path}` };
    const config = join(folder, 'litestream.yml');
    // JSON is YAML. Litestream's own interval is a minute.
    const replica = { type: 'file', path: join(folder, 'replica') };
    const dbs = [{ path, 'checkpoint-interval': '1s', 'min-checkpoint-page-count': 1, replica }];
    await writeFile(config, JSON.stringify({ dbs }));

    const server = await ServerProcess.start(environment.DATABASE_URL);
    onTestFinished(() => server.kill());
    const { link, account_id } = await linkedApplication(server);
    const [kept, revoked] = [await link(), await link()];
    const replicator = spawn(litestream, ['replicate', '-config', config]);
    onTestFinished(() => void replicator.kill('SIGKILL'));
    let said = '';
    replicator.stdout.on('data', (data) => {
      said += data;
    });
    await expect.poll(() => said).toContain('snapshot complete');
    const since = new Date().toISOString();

    const erased = randomUUID();
    await succeed(server, 'admin.accounts.put', { account_id: erased, username: NAME }, operator);
    const input = { account_id: erased };
    const { state } = await succeed(server, 'admin.accounts.erase', input, operator);
    expect(state).toBe('erasing');
    const get = { method: 'GET', path: `/admin/accounts/${erased}`, authorization: operator };
    expect((await send(server, get)).json.error_code).toBe('account_not_found');
    // Litestream begins the log anew only if something is written.
    await expect
      .poll(
        async () => {
          await succeed(server, 'admin.accounts.put', { account_id, username: 'Ada' }, operator);
          return server.lines.filter(({ msg }) => msg === 'work');
        },
        { interval: 500 },
      )
      .toMatchObject([{ kind: 'erasure', account_id: erased }]);
    for (const suffix of ['', '-wal']) {
      expect(readFileSync(path + suffix).includes(NAME), suffix).toBe(false);
    }
    // A repeat begins nothing that would wait for the log again, and neither does an id that was never known.
    for (const one of [erased, randomUUID()]) {
      const repeated = await succeed(server, 'admin.accounts.erase', { account_id: one }, operator);
      expect(repeated).toMatchObject({ state: 'erased', grants_revoked: 0 });
    }
    const doctor = await runInProcess(['doctor'], environment);
    expect(doctor.stdout).toContain('_litestream_seq');
    const backup = join(folder, 'backup.db');
    expect(await runInProcess(['backup', backup], environment)).toMatchObject({ code: 0 });

    await succeed(server, 'admin.grants.revoke', { grant_id: revoked.grant_id }, operator);
    await server.kill();
    replicator.kill('SIGTERM');
    await once(replicator, 'exit');
    const log = join(folder, 'latchkey.log');
    await writeFile(log, server.log);
    const copy = join(folder, 'copy.db');
    await promisify(execFile)(litestream, ['restore', '-config', config, '-o', copy, path]);
    expect((await readFile(copy)).includes('_litestream_seq')).toBe(true);

    // The time that the refusal asks for.
    const restore = async (time: string) =>
      runInProcess(['restore', copy, '--since', time, '--log', log], environment);
    const first = await restore(since);
    const [, needed] = /since (\S+Z|\S+\+00:00)\./.exec(first.stderr) ?? [];
    expect(first.code === 0 ? first : await restore(needed ?? '')).toMatchObject({ code: 0 });
    await server.restart();
    expect((await runInProcess(['doctor'], environment)).stdout).not.toContain('_litestream');
    const status = async (grant: typeof kept) =>
      (await send(server, { method: 'GET', path: '/v1/grant', authorization: asBearer(grant) }))
        .status;
    expect([await status(kept), await status(revoked)]).toEqual([200, 401]);
  },
);
