import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type Settings } from '@latchkey/server';
import { slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import settings from '../apps/server/src/settings.json' with { type: 'json' };
import { settingsInForce } from '../apps/server/src/settings.ts';
import { commands } from './support/command-page.ts';
import { sourcesOfService } from './support/manifests.ts';
import { codeBlocks, tableBelow } from './support/markdown.ts';
import { metricTypes } from './support/metrics.ts';
import {
  environment,
  latchkey,
  pairIn,
  run as runProgram,
  type ServiceProcess,
  script,
  startService,
} from './support/service.ts';

// Checks the pages of docs/operations against the service.

const root = new URL('../', import.meta.url);
const page = (name: string) => readFile(new URL(`docs/operations/${name}.md`, root), 'utf8');
const install = await page('install');
const run = await page('run');
const monitoring = await page('monitoring');
const sqlite = await page('sqlite');
const proxy = await page('proxy');

const source = (path: string) => readFile(new URL(path, root), 'utf8');

const firstColumn = (text: string, heading: string) =>
  tableBelow(text, heading).flatMap(([cell = '']) => cell.split(', '));

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-operations-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

// tests/restore.test.ts and move.test.ts run those of upgrade-and-restore.md.
test.each(['administer', 'sqlite'])('the commands in docs/operations/%s.md work', async (name) => {
  const blocks = codeBlocks(await page(name)).filter(({ language }) => language === 'sh');
  expect(blocks.length).toBeGreaterThan(0);
  const options = {
    cwd: folder,
    env: environment({ DATABASE_URL: `file:${join(folder, `${name}.db`)}` }),
  };
  expect((await latchkey(['app', 'create', 'Acme'], options)).exitCode).toBe(0);
  for (const { code } of blocks) {
    const commands = code
      .replaceAll('/var/backups', folder)
      .replaceAll(/\b20\d\d-/g, `${new Date().getFullYear() + 1}-`)
      .replaceAll('KEY_ID', '"$(latchkey key list | head -n 1 | cut -f 1)"');
    const bash = `set -euo pipefail\nlatchkey() { "${process.execPath}" "${script}" "$@"; }\n${commands}`;
    const { exitCode, stderr } = await runProgram('bash', ['-c', bash], options);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  }
});

test('no probe of Kubernetes takes every pod out while the database is down', () => {
  const [block] = codeBlocks(run).filter(({ language }) => language === 'yaml');
  const paths = Object.entries<{ httpGet: { path: string; port: number } }>(
    parse(block?.code ?? ''),
  ).map(([probe, { httpGet }]) => `${probe} ${httpGet.port}${httpGet.path}`);
  const { port } = loadSettings({});
  expect(paths).toEqual([
    `livenessProbe ${port}/healthz`,
    `readinessProbe ${port}/healthz`,
    `startupProbe ${port}/readyz`,
  ]);
});

describe('the settings', () => {
  const defaults = loadSettings({});
  const camelCase = (name: string) =>
    name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

  test('are in docs/operations/install.md with their defaults', () => {
    const rows = tableBelow(install, 'Settings');
    expect(rows.map(([name]) => name)).toEqual(Object.keys(settings));
    for (const [name = '', written = ''] of rows) {
      const key = camelCase(name) as keyof Settings;
      const absent = ['none', 'from the request'].includes(written);
      // Setting the documented default must change nothing.
      if (absent) expect([null, {}], name).toContainEqual(defaults[key]);
      else expect(loadSettings({ [name]: written })[key], name).toEqual(defaults[key]);
    }
  });

  test('are those of admin.settings.get, in the same order and with the documented defaults', () => {
    const rows = tableBelow(install, 'Settings').map(([name, written = '']) => {
      const isAbsent = ['none', 'from the request'].includes(written);
      return { name, value: isAbsent ? null : written, source: 'default' };
    });
    expect(settingsInForce(defaults)).toEqual(rows);
  });

  test('are all passed on by compose.yaml', async () => {
    const { latchkey } = parse(
      await readFile(new URL('deploy/compose.yaml', root), 'utf8'),
    ).services;
    const { environment: passed, ports, volumes } = latchkey;
    const used = JSON.stringify({ passed, ports, volumes }).matchAll(/\$\{([A-Z_]+):/g);
    expect([...new Set([...used].map(([, name]) => name))].sort()).toEqual(
      Object.keys(settings).sort(),
    );
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(passed)));
  });

  test('of the documented drain fit into the stop times of the unit and of compose.yaml', async () => {
    const read = (path: string) => readFile(new URL(path, root), 'utf8');
    const [, more] = /at least (\d+) s longer than `DRAIN_SECONDS`/.exec(run) ?? [];
    const longest = Math.max(
      Number(settings.DRAIN_SECONDS.example),
      ...[...`${run}${proxy}`.matchAll(/DRAIN_SECONDS=(\d+)/g)].map(([, seconds]) =>
        Number(seconds),
      ),
    );
    const needed = longest + defaults.shutdownSeconds + Number(more);
    const [, unit] =
      /^TimeoutStopSec=(\d+)$/m.exec(await read('deploy/systemd/latchkey.service')) ?? [];
    expect(Number(unit)).toBeGreaterThanOrEqual(needed);
    const { stop_grace_period } = parse(await read('deploy/compose.yaml')).services.latchkey;
    expect(stop_grace_period).toBe(`${unit}s`);
  });

  test('that can be files are named there', () => {
    const files = Object.entries(settings).filter(([, setting]) => 'fileExample' in setting);
    const [, sentence = ''] = /\n\n(.+) can also be given as files,/.exec(install) ?? [];
    const names = [...sentence.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name);
    expect(names).toEqual(files.map(([name]) => name));
  });
});

describe('a running service', () => {
  let service: ServiceProcess;

  const call = async (path: string, secret?: string, body?: object) => {
    const response = await fetch(service.url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(secret && { Authorization: `Bearer ${secret}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      body: body ? JSON.stringify(body) : null,
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  };

  const lines = (output: string) =>
    output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  /** The members of log lines, without those that all lines have. */
  const fields = (written: Record<string, unknown>[], msg: string) => {
    const own = written.filter((line) => line.msg === msg).flatMap((line) => Object.keys(line));
    return new Set(own.filter((name) => !['level', 'time', 'msg'].includes(name)));
  };

  beforeAll(async () => {
    service = await startService({ cwd: folder, env: environment() });
    return async () => void (await service.stop());
  });

  test('reports its health', async () => {
    const rows = tableBelow(run, 'Health');
    expect(rows.map(([route]) => route)).toEqual(['GET /healthz', 'GET /readyz']);
    for (const [route = '', documented = ''] of rows) {
      const [, body = ''] = /^200 (\{.*?\})/.exec(documented) ?? [];
      expect(await call(route.replace('GET ', ''))).toEqual({
        status: 200,
        body: JSON.parse(body),
      });
    }
  });

  test('logs the documented fields, and can be backed up as documented', async () => {
    const demo = await latchkey(['demo'], { cwd: folder, env: environment() });
    const { applicationSecret, code } = pairIn(demo.stdout);
    const { body: grant } = await call('/oauth/convert', applicationSecret, { code });
    await call('/v1/account', grant.grant_secret);
    await call('/no/such/route');

    const [block] = codeBlocks(sqlite.slice(sqlite.indexOf('## Backup')));
    const [, ...backUp] =
      block?.code.trim().replace('/var/backups/latchkey.db', 'backup.db').split(' ') ?? [];
    expect(backUp[0]).toBe('backup');
    expect(await latchkey(backUp, { cwd: folder, env: environment() })).toMatchObject({
      exitCode: 0,
    });
    const backup = { cwd: folder, env: environment({ DATABASE_URL: 'file:backup.db' }) };
    const words = ['grant', 'list', '--account', '0193aa00-0000-7000-8000-00000000acc0', '--json'];
    const { stdout } = await latchkey(words, backup);
    expect(JSON.parse(stdout).data).toMatchObject([{ grant_id: grant.grant_id }]);

    expect(await service.stop()).toBe(0);
    const written = lines(service.stderr());
    written.push(...(await linesOfOperator()));
    expect([...fields(written, 'request')]).toEqual(
      expect.arrayContaining(['request_id', 'route', 'status']),
    );
    expect([...fields(written, 'request')].sort()).toEqual(
      firstColumn(monitoring, 'Fields of a request').sort(),
    );
    expect([...fields(written, 'audit')].sort()).toEqual(
      firstColumn(monitoring, 'Fields of an audit line').sort(),
    );
    expect(written.at(-1)).toMatchObject({ msg: 'closed' });
  });

  /** The log of a service that an operator has called, and whose database a command has changed. */
  async function linesOfOperator() {
    const ADMIN_SECRET = 'an-admin-secret-for-tests-with-32-characters';
    const env = environment({
      ADMIN_SECRET,
      DATABASE_URL: 'file:operator.db',
      SIGN_IN_URL: 'https://host.example/sign-in',
      PUBLIC_URL: 'https://link.example',
      EVENTS_KEY: 'an-events-key-for-tests-with-32-characters',
      CLIENT_DOCUMENTS: 'app.example',
      OUTBOUND_ALLOW: 'private,http',
    });
    const created = await latchkey(['app', 'create', 'Acme', '--json'], { cwd: folder, env });
    const { id } = JSON.parse(created.stdout);
    const narrower = ['--redirect-uri', 'https://app.example/cb', '--scope', 'profile.read'];
    await latchkey(['app', 'update', id, ...narrower], { cwd: folder, env });
    await latchkey(['scope', 'put', 'profile.read', '--title', 'Read'], { cwd: folder, env });
    const create = ['endpoint', 'create', 'http://127.0.0.1:9/events', '--json'];
    const endpoint = JSON.parse((await latchkey(create, { cwd: folder, env })).stdout);
    await latchkey(['endpoint', 'update', endpoint.id, '--enable'], { cwd: folder, env });
    service = await startService({ cwd: folder, env });
    const acme = { name: 'Acme', redirect_uris: ['https://app.example/cb'] };
    const { body: application } = await call('/admin/applications', ADMIN_SECRET, acme);
    const query = `response_type=code&client_id=${application.id}&scope=profile.read&state=a`;
    const sent = await fetch(`${service.url}/oauth/authorize?${query}`, { redirect: 'manual' });
    const link = new URL(sent.headers.get('location') ?? '').searchParams.get('link');
    const host = { name: 'Sign-in page', role: 'host' };
    const { body: key } = await call('/admin/keys', ADMIN_SECRET, host);
    await call('/admin/links/deny', key.secret, { link });
    const document_uri = 'https://app.example/client.json';
    const document = { client_id: document_uri, redirect_uris: acme.redirect_uris };
    await call('/admin/documents/pin', ADMIN_SECRET, { document_uri, document });
    await call('/admin/grants/revoke', ADMIN_SECRET, { application_id: id });
    const endpoints = '/admin/endpoints';
    await call(`${endpoints}/${endpoint.id}/rotate`, ADMIN_SECRET, {});
    await call(`${endpoints}/${endpoint.id}/ping`, ADMIN_SECRET, {});
    expect(await service.stop()).toBe(0);
    return lines(service.stderr());
  }

  test('responds with the reason if it has no database', slow, async () => {
    service = await startService({
      cwd: folder,
      env: environment({ DATABASE_URL: 'mongodb://127.0.0.1:1/latchkey' }),
    });
    const { status, body } = await call('/readyz');
    expect({ status, error_code: body.error_code }).toEqual({
      status: 503,
      error_code: 'store_unavailable',
    });
    expect(await service.stop()).toBe(0);
    const written = lines(service.stderr());
    // `err` is of a mistake of ours.
    expect([...fields(written, 'request failed'), 'err'].sort()).toEqual(
      firstColumn(monitoring, 'Fields of a failure').sort(),
    );
    expect(written.map(({ msg }) => msg)).toContain(
      'the store failed outside of a request; it will be tried again',
    );
  });
});

test('every metric of the service is documented', slow, async () => {
  const types = await metricTypes(folder);
  const own = [...types].filter(([name]) => !/^(?:process|nodejs)_/.test(name));
  const rows = tableBelow(monitoring, 'Metrics');
  expect(rows.map((cells) => cells.slice(0, 2)).sort()).toEqual(own.sort());
});

test('every other line of the log is documented', async () => {
  const written = new Set<string>();
  for (const path of await sourcesOfService()) {
    const calls = /\blog(?:\.(?:trace|debug|info|warn|error|fatal)|\[level\])\(([\s\S]*?)\);/g;
    for (const [, words = ''] of (await source(path)).matchAll(calls)) {
      const [, message] = /'([^']+)',?\s*$/.exec(words) ?? [];
      expect(message, `${path}: ${words}`).toBeDefined();
      written.add(message as string);
    }
  }
  const documented = firstColumn(monitoring, 'Other lines');
  expect([...documented, 'request', 'request failed', 'audit'].sort()).toEqual([...written].sort());
});

describe('the command line', () => {
  const without = (option: string) =>
    commands.filter(({ options }) => !options.some(({ flags }) => flags.includes(option)));

  test('has --json and --service wherever an operation of the service is called', () => {
    expect(without('--json').map(({ name }) => name)).toEqual(['serve', 'demo', 'page texts']);
    expect(without('--service').map(({ name }) => name)).toEqual([
      'serve',
      'demo',
      'page texts',
      'doctor',
      'backup',
      'restore',
      'revoke-again',
      'copy',
      'migrate',
    ]);
  });

  test.each([
    ['done', ['app', 'list'], 0],
    ['refused', ['grant', 'revoke', '0193aa00-0000-7000-8000-000000000001'], 1],
    ['a wrong command line', ['app', 'frobnicate'], 2],
  ])('exits as documented: %s', async (_, words, exitCode) => {
    expect(await latchkey(words, { cwd: folder, env: environment() })).toMatchObject({ exitCode });
  });

  test('exits as documented: a wrong setting, whose value is not printed', async () => {
    const env = environment({ ADMIN_SECRET: 'short' });
    const { exitCode, stderr } = await latchkey(['serve'], { cwd: folder, env });
    expect(exitCode).toBe(78);
    expect(stderr).toMatch(/^ADMIN_SECRET .+ Example: .+\n$/);
    expect(stderr).not.toContain('short');
  });
});
