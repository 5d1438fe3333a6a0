import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { codeBlocks } from './support/markdown.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import {
  environment,
  type ServiceProcess,
  script,
  startService,
  succeed,
} from './support/service.ts';

// The chapter "Restore" of docs/operations/upgrade-and-restore.md, followed step by step.

const page = 'docs/operations/upgrade-and-restore.md';
const operations = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
const blockWith = (text: string) => {
  const block = codeBlocks(operations).find(({ code }) => code.includes(text));
  if (block === undefined) throw new Error(`${page} has no block with ${text}`);
  return block.code.replace(/^ +/gm, '');
};

let folder: string;
let service: ServiceProcess | undefined;
const start = async () => {
  const env = environment({ ADMIN_SECRET, DATABASE_URL: 'file:./data/latchkey.db' });
  service = await startService({ cwd: folder, env });
  return service;
};
const shell = (code: string) =>
  succeed('bash', ['-euo', 'pipefail', '-c', `latchkey() { node '${script}' "$@"; }; ${code}`], {
    cwd: folder,
    env: environment(),
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-restore-'));
});
afterEach(async () => {
  await service?.stop();
  await rm(folder, { recursive: true });
});

const create = (name: string, at: { url: string }) =>
  operator<{ id: string }>(at, 'POST', '/applications', { name });
const list = async (at: { url: string }) => {
  const { data } = await operator<{ data: { name: string; disabled: boolean }[] }>(
    at,
    'GET',
    '/applications',
  );
  return data.map(({ name, disabled }) => ({ name, disabled }));
};

test('after a restore there is what the backup has, without what was revoked since', async () => {
  const first = await start();
  const { id } = await create('before', first);
  await shell('latchkey backup backup.db');
  await create('after', first);
  await operator(first, 'POST', `/applications/${id}/disable`);
  // The log is written in the background: a kill may lose its last lines.
  await expect
    .poll(() => first.stderr())
    .toContain(`"route":"/admin/applications/{application_id}/disable"`);
  // Killed, so that its write-ahead log stays behind.
  await first.kill();
  await writeFile(join(folder, 'latchkey.log'), first.stderr());

  await shell(blockWith('latchkey restore backup.db'));
  expect(await list(await start())).toEqual([{ name: 'before', disabled: true }]);
});

test('a file that is copied under a running service is noticed by its next request', async () => {
  const running = await start();
  await create('before', running);
  await shell('latchkey backup backup.db; rm data/latchkey.db*; cp backup.db data/latchkey.db');
  await expect(create('lost', running)).rejects.toThrow('store_unavailable');
  expect((await fetch(`${running.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
});
