import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { manyGrants } from '../cli/many-grants.ts';
import { invoke, succeed } from '../http/call.ts';
import { runInProcess } from '../http/command-process.ts';
import { operator } from '../http/running-server.ts';
import { launchServer, listening } from '../http/served-process.ts';

// Three of four are active.
const GRANTS = 8_000;
const ACTIVE = 6_000;

let folder: string;
const file = (name: string) => join(folder, name);
const urlOf = (name: string) => `file:${file(name)}`;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-killed-'));
  // Once its processes have ended: what is said first comes last.
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function started(name: string) {
  const server = launchServer(urlOf(name));
  onTestFinished(() => server.kill('SIGKILL'));
  return { server, url: await listening(server) };
}

async function latchkey(name: string, ...words: string[]): Promise<void> {
  const { code, stderr } = await runInProcess(words, { DATABASE_URL: urlOf(name) });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

function numberOf(name: string, what: string): number {
  const database = new DatabaseSync(file(name), { readOnly: true });
  try {
    return Number(database.prepare(`SELECT count(*) AS number FROM ${what}`).get()?.number);
  } finally {
    database.close();
  }
}
const active = (name: string) => numberOf(name, 'grants WHERE revoked_at IS NULL');

test('6,000 grants whose end was answered right before a kill stay ended after a restore', async () => {
  const { application } = await manyGrants(urlOf('latchkey.db'), GRANTS);
  const { server, url } = await started('latchkey.db');
  await latchkey('latchkey.db', 'backup', file('backup.db'));
  const of = { application_id: application.id };
  const { state } = await succeed({ url }, 'admin.grants.revokeAll', of, operator);
  server.kill('SIGKILL');
  expect(['revoking', 'revoked']).toContain(state);
  await writeFile(file('latchkey.log'), (await server.ended).stderr);

  // The database is lost.
  await latchkey('new.db', 'restore', file('backup.db'), '--log', file('latchkey.log'));
  expect(numberOf('new.db', 'grants')).toBe(GRANTS);
  expect(active('new.db')).toBe(0);
});

test('what a killed process has only begun goes on in a backup of it', async () => {
  const { account } = await manyGrants(urlOf('latchkey.db'), GRANTS);
  const { server, url } = await started('latchkey.db');
  const ending = invoke(
    { url },
    'REST',
    'admin.grants.revokeAll',
    { account_id: account.id },
    operator,
  );
  ending.catch(() => undefined);
  await expect
    .poll(() => numberOf('latchkey.db', 'accounts WHERE unfinished_since IS NOT NULL'), {
      interval: 1,
    })
    .toBe(1);
  server.kill('SIGKILL');
  await server.ended;
  await latchkey('latchkey.db', 'backup', file('backup.db'));
  expect(active('backup.db')).toBeGreaterThan(0);
  expect(active('backup.db')).toBeLessThanOrEqual(ACTIVE);

  await latchkey('new.db', 'restore', file('backup.db'), '--accept-gap');
  await started('new.db');
  await expect.poll(() => active('new.db')).toBe(0);
  await expect
    .poll(() => numberOf('new.db', 'accounts WHERE unfinished_since IS NOT NULL'))
    .toBe(0);
});
