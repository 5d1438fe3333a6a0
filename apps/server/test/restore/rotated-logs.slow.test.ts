import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { copyDatabase } from '@latchkey/store/copy-database';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { closeService, openService } from '../../src/open-service.ts';
import { driverOf } from '../../src/open-store.ts';
import { invoke, type Json } from '../http/call.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { ServerProcess } from '../http/served-process.ts';

const READER = fileURLToPath(new URL('rotating-reader.ts', import.meta.url));
const BYTES = 64 * 1024;

describeOnEachStore('a log that a pipe takes to a program that rotates it', (fresh) => {
  test('loses no line under load, and a restore ends all that it has', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-rotated-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const log = join(folder, 'latchkey.log');
    const [database, backup] = [await fresh(), await fresh()];
    onTestFinished(() => Promise.all([database.remove(), backup.remove()]).then(() => undefined));
    const reading = `exec "$@" 2> >(exec '${process.execPath}' '${READER}' '${log}' ${BYTES})`;
    const server = await ServerProcess.start(database.url, {
      within: ['bash', '-c', reading, 'bash'],
    });
    const linked = await linkedApplication(server);
    const grants = await Promise.all(Array.from({ length: 60 }, () => linked.link()));
    const since = new Date().toISOString();
    const [source, target] = [
      await driverOf(database.url).openSource(database.url),
      await driverOf(backup.url).openTarget(backup.url),
    ];
    await copyDatabase(source, target, { last: false });
    await Promise.all([source.close(), target.close()]);
    const opened = () =>
      openService(backup.url, pino({ level: 'silent' }), { claim: { evenIfCopied: true } });
    // From now on it is a database of its own.
    await closeService(await opened());

    const [ended, kept] = [grants.slice(0, 50), grants.slice(50)];
    const statuses = await Promise.all([
      ...ended.map(async ({ grant_id }) => {
        const input = { grant_id };
        return (await invoke(server, 'REST', 'grants.revoke', input, linked.bearer)).status;
      }),
      ...Array.from({ length: 300 }, () => linked.link().then(() => 200)),
    ]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await server.stop()).toBe(0);
    await expect.poll(() => existsSync(`${log}.ended`)).toBe(true);

    const names = (await readdir(folder)).filter((name) => !name.endsWith('.ended'));
    const compressed = names.filter((name) => name.endsWith('.gz'));
    expect(compressed.length).toBeGreaterThan(2);
    const texts = names.map(async (name) => {
      const content = await readFile(join(folder, name));
      return String(name.endsWith('.gz') ? gunzipSync(content) : content);
    });
    const lines = (await Promise.all(texts)).flatMap((text) =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line): Json => JSON.parse(line)),
    );
    const counted = lines.flatMap(({ msg, line }) => (msg === 'audit' ? [line] : []));
    counted.sort((one, other) => one - other);
    expect(counted).toEqual(counted.map((_, index) => index + 1));
    const stop = lines.find(({ event }) => event === 'stop');
    expect(stop?.lines).toBe(counted.length);

    const again = (files: string[]) =>
      runInProcess(
        ['revoke-again', '--since', since, '--json', ...files.map((name) => join(folder, name))],
        { DATABASE_URL: backup.url },
      );
    const one = await again(names.filter((name) => name !== compressed[1]));
    expect(one).toMatchObject({ code: 1, stderr: expect.stringMatching(/missing/) });
    const all = await again(names);
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(all.stdout).gaps).toEqual([]);

    const service = await opened();
    const isRevoked = async ({ grant_id }: { grant_id: string }) =>
      (await service.store.findGrantHistory(grant_id))?.revoked_at !== null;
    expect(await Promise.all(ended.map(isRevoked))).toEqual(ended.map(() => true));
    expect(await Promise.all(kept.map(isRevoked))).toEqual(kept.map(() => false));
    await closeService(service);
  });
});
