import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SecretRecord } from '@latchkey/store/records';
import { createTestServer } from '@latchkey/testing';
import { expect, onTestFinished, test } from 'vitest';
import { checkApplications, checkKeys } from '../apps/server/src/doctor/check-credentials.ts';
import { checkPublicAddress } from '../apps/server/src/doctor/check-public-address.ts';
import { examine } from '../apps/server/src/doctor/examine.ts';
import { driverOf } from '../apps/server/src/open-store.ts';
import { freePort } from './support/linking-program.ts';
import { tableBelow } from './support/markdown.ts';

const root = new URL('../', import.meta.url);
const goLive = await readFile(new URL('docs/guides/go-live.md', root), 'utf8');
const commandLine = await readFile(new URL('docs/operations/command-line.md', root), 'utf8');

async function findingsOf<Found>(found: AsyncIterable<Found>): Promise<Found[]> {
  const findings: Found[] = [];
  for await (const each of found) findings.push(each);
  return findings;
}

/** A database of a service, in a file. */
async function newDatabase(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-go-live-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'latchkey.db');
  const url = `file:${path}`;
  await (await driverOf(url).open(url, { clock: Date.now, recordsEvents: false })).close();
  return path;
}

const inOrder = (names: Iterable<string>) => [...new Set(names)].toSorted();

test('the page names each row of doctor that is about going live, and no other', async () => {
  const DATABASE_URL = `file:${await newDatabase()}`;
  const rowsWith = async (settings: NodeJS.ProcessEnv) => {
    const findings = await findingsOf(examine({ DATABASE_URL, ...settings }, { deep: false }));
    return inOrder(findings.map(({ check }) => check.replace('_', ' ')));
  };
  const local = await rowsWith({});
  const live = await rowsWith({ PUBLIC_URL: 'https://link.invalid' });

  const named = [...goLive.matchAll(/\brow `([^`]+)`/g)].map(([, row = '']) => row);
  expect(live).toEqual(expect.arrayContaining(inOrder(named)));
  expect(named).toEqual(expect.arrayContaining(live.filter((row) => !local.includes(row))));
  const documented = tableBelow(commandLine, 'Doctor').map(([row = '']) => row);
  // Nothing is fetched here.
  expect(inOrder([...live, 'documents'])).toEqual(inOrder(documented));
});

test('a record that cannot be read is told, and the rows behind it are still made', async () => {
  const path = await newDatabase();
  const settings = { DATABASE_URL: `file:${path}`, PUBLIC_URL: 'https://link.invalid' };
  const rows = async () =>
    (await findingsOf(examine(settings, { deep: false }))).map(
      ({ check, level }) => `${level} ${check}`,
    );
  const whole = await rows();
  const database = new DatabaseSync(path);
  database.exec("INSERT INTO keys (name, list) VALUES ('all', '[')");
  database.close();
  expect(await rows()).toEqual(whole.map((row) => row.replace('ok keys', 'problem keys')));
});

test('the public address is asked for the routes of the operator, and for HSTS', async () => {
  const server = await createTestServer();
  onTestFinished(() => server.close());
  let isDown = false;
  let ofAdmin = 404;
  let passesBatches = false;
  const proxy = createServer((request, response) => {
    if (passesBatches && !/^\/(?:trpc\/)?admin/.test(request.url ?? '')) {
      const { url, method } = request;
      void fetch(`${server.baseUrl}${url}`, { method: method ?? '' }).then(async (passed) => {
        response.writeHead(passed.status).end(await passed.text());
      });
      return;
    }
    const status = request.url?.startsWith('/admin') ? ofAdmin : 200;
    const headers = { 'strict-transport-security': 'max-age=1' };
    response.writeHead(isDown ? 502 : status, headers).end();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const proxied = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  const findingsAt = (url: string, adminPort: number | null) =>
    findingsOf(checkPublicAddress(url, { adminSecret: server.adminSecret, adminPort }));
  const rowsAt = async (...at: Parameters<typeof findingsAt>) =>
    (await findingsAt(...at)).map(({ check, level }) => `${level} ${check}`);
  expect(await rowsAt(server.baseUrl, null)).toEqual(['warning admin', 'warning public_url']);
  expect(await rowsAt(proxied, null)).toEqual(['ok admin', 'ok public_url']);
  // Of a service that is not ours.
  ofAdmin = 405;
  expect(await rowsAt(proxied, null)).toEqual(['ok admin', 'ok public_url']);
  passesBatches = true;
  expect(await rowsAt(proxied, null)).toEqual(['warning admin', 'warning public_url']);
  passesBatches = false;
  isDown = true;
  expect(await rowsAt(proxied, null)).toEqual(['warning admin', 'skipped public_url']);
  const nobody = `http://127.0.0.1:${await freePort()}`;
  expect(await rowsAt(nobody, null)).toEqual(['warning admin', 'skipped public_url']);
  expect(await rowsAt(nobody, 3001)).toEqual(['ok admin', 'skipped public_url']);
  const [, unreached] = await findingsAt(nobody, null);
  expect(unreached?.found).toMatch(/ does not respond here: ECONNREFUSED\.$/);
});

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 28);

const secret = (days: number, lastUsed: number | null): SecretRecord => ({
  id: `secret-${days}`,
  hash: Buffer.alloc(32) as never,
  hint: 'hint',
  created_at: NOW - days * DAY,
  expires_at: null,
  last_used_at: lastUsed === null ? null : NOW - lastUsed * DAY,
});

const saidOf = async (found: AsyncIterable<{ level: string; found: string }>) =>
  (await findingsOf(found)).map(({ level, found }) => `${level}: ${found}`);

test('keys: none for the sign-in, unused ones, and those without an end', async () => {
  const keys = (...list: object[]) => ({
    store: { listKeys: async () => list } as never,
    clock: () => NOW,
  });
  const host = { ...secret(100, 1), name: 'sign-in', role: 'host' };
  const old = { ...secret(100, 91), name: 'old', role: 'read' };
  const signIn = { signInUrl: 'https://site.example/link' };
  expect(await saidOf(checkKeys(keys(host), signIn))).toEqual([
    'ok: 1 can be used. Without an end: sign-in.',
  ]);
  expect(await saidOf(checkKeys(keys(old), signIn))).toEqual([
    expect.stringMatching(/^warning: .+ no key has the role host/),
    'warning: Not used for 90 days: old.',
  ]);
});

test('applications: every scope, a redirect URI of a test, and secrets to spare', async () => {
  const good = {
    id: 'good',
    disabled: false,
    scopes: ['profile.read'],
    redirect_uris: ['https://app.example/callback'],
    secrets: [secret(100, null)],
  };
  const applications = (...list: object[]) => ({
    store: { listApplications: async () => list } as never,
    clock: () => NOW,
  });
  expect(await saidOf(checkApplications(applications(good)))).toEqual([
    'ok: 1 can link. Each has a list of scopes.',
  ]);
  const bad = [
    { ...good, id: 'all', scopes: null },
    { ...good, id: 'test', redirect_uris: ['http://localhost:4000/callback'] },
    { ...good, id: 'spare', secrets: [secret(100, 95), secret(10, null)] },
    { ...good, id: 'off', disabled: true, scopes: null },
  ];
  expect(await saidOf(checkApplications(applications(...bad)))).toEqual([
    'warning: May ask for every scope: all.',
    expect.stringMatching(/^warning: Has a redirect URI on the machine of its user, .+: test\.$/),
    expect.stringMatching(/^warning: Has a secret that was not used for 90 days .+: spare\.$/),
  ]);
});
