import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointSecret, fingerprintsOf } from '@latchkey/rules/events/endpoint-secret';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { startDemo } from '../demo/running-demo.ts';
import { type CommandProcess, runInProcess, startCommand } from '../http/command-process.ts';
import { describeOnAnyStore, type TestDatabase } from '../http/databases.ts';
import { ADMIN_SECRET } from '../http/running-server.ts';

const keyOf = (word: string) => `the-${word}-key-of-events-for-tests`;
const [A, B, C] = [keyOf('first'), keyOf('second'), keyOf('third')];

test('a fingerprint is short, differs by key, and is no part of a secret', () => {
  const { current, previous } = fingerprintsOf({ current: A, previous: B });
  for (const fingerprint of [current, previous]) expect(fingerprint).toMatch(/^[\da-f]{8}$/);
  expect(current).not.toBe(previous);
  expect(fingerprintsOf({ current: B, previous: null })).toEqual({
    ...{ current: previous, previous: null },
  });
  const secret = endpointSecret(A, '00000000-0000-0000-0000-000000000000', 1);
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex');
  expect(bytes).not.toContain(current);
});

describeOnAnyStore('on a database with endpoints, EVENTS_KEY', (fresh) => {
  let database: TestDatabase;
  let folder: string;
  let running: CommandProcess[] = [];

  const settings = (keys: NodeJS.ProcessEnv) => ({
    ...{ DATABASE_URL: database.url, ADMIN_SECRET, PORT: '0', OUTBOUND_ALLOW: 'private,http' },
    ...keys,
  });
  const latchkey = (words: string[], keys: NodeJS.ProcessEnv) =>
    runInProcess(words, settings(keys));

  function launch(keys: NodeJS.ProcessEnv, ...words: string[]): CommandProcess {
    const server = startCommand(['serve', ...words], settings(keys));
    running.push(server);
    return server;
  }

  /** 0 if the service started, and stopped when it was told to. */
  async function codeOf(keys: NodeJS.ProcessEnv, ...words: string[]): Promise<number | null> {
    const server = launch(keys, ...words);
    await server.printed(/^Latchkey listens on/m).catch(() => null);
    server.kill('SIGTERM');
    const { code, stdout, stderr } = await server.ended;
    if (code === 78) {
      expect(stdout).toBe('');
      expect(stderr).toMatch(
        /^[^\n]+EVENTS_KEY is another key [^\n]+ EVENTS_KEY_PREVIOUS\. [^\n]+lost[^\n]+`latchkey serve --new-events-key` once[^\n]+\n$/,
      );
    }
    expect(stderr).not.toContain('-key-of-events');
    return code;
  }

  async function onDatabase(EVENTS_KEY: string, use: () => Promise<void>): Promise<void> {
    database = await fresh();
    try {
      const create = ['endpoint', 'create', 'http://127.0.0.1:9/events', '--json'];
      // The database has no endpoint yet, so what another command was given does not matter.
      expect(await latchkey(['app', 'create', 'Acme'], { EVENTS_KEY: C })).toMatchObject({
        code: 0,
      });
      expect(await latchkey(create, { EVENTS_KEY })).toMatchObject({ code: 0 });
      await use();
    } finally {
      await database.remove();
    }
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-events-key-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(async () => {
    for (const server of running) server.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    running = [];
  });

  test('cannot be replaced by mistake, but with the one before, and then without it', () =>
    onDatabase(A, async () => {
      expect(await codeOf({ EVENTS_KEY: B })).toBe(78);
      expect(await codeOf({ EVENTS_KEY: B, EVENTS_KEY_PREVIOUS: A })).toBe(0);
      expect(await codeOf({ EVENTS_KEY: B })).toBe(0);
      expect(await codeOf({ EVENTS_KEY: A })).toBe(78);
      // The old one is lost.
      expect(await codeOf({ EVENTS_KEY: C }, '--new-events-key')).toBe(0);
      expect(await codeOf({ EVENTS_KEY: C })).toBe(0);
      expect(await codeOf({ EVENTS_KEY: B })).toBe(78);
      expect((await database.bytes()).toString('latin1')).not.toContain('-key-of-events');
    }));

  test('has to be the right one for commands that sign, and doctor says so', () =>
    onDatabase(A, async () => {
      for (const [words, expected] of [
        [['endpoint', 'create', 'http://127.0.0.1:9/other'], 2],
        [['endpoint', 'list'], 0],
        // The services tell of these.
        [['account', 'put', '--username', 'ada'], 0],
        [['app', 'create', 'Another'], 0],
      ] as const) {
        const { code, stderr } = await latchkey([...words], { EVENTS_KEY: B });
        expect([code, /EVENTS_KEY is another key/.test(stderr)]).toEqual([
          expected,
          expected === 2,
        ]);
      }
      const doctor = async (keys: NodeJS.ProcessEnv) => {
        const { stdout } = await latchkey(['doctor', '--json'], keys);
        const { data } = JSON.parse(stdout);
        return data.find(({ check }: { check: string }) => check === 'events');
      };
      const problem = { level: 'problem', found: expect.stringContaining('another key than that') };
      expect(await doctor({ EVENTS_KEY: B })).toMatchObject(problem);
      expect(await doctor({ EVENTS_KEY: B, EVENTS_KEY_PREVIOUS: A })).toMatchObject({
        level: 'ok',
      });
      // Looking changes nothing.
      expect(await doctor({ EVENTS_KEY: B })).toMatchObject(problem);
      expect(await doctor({ EVENTS_KEY: A })).toMatchObject({ level: 'ok' });
    }));

  test('is known in a copy', () =>
    onDatabase(A, async () => {
      const from = database.url;
      const to = `file:${join(folder, `copy-of-${database.system}.db`)}`;
      const words = ['copy', '--from', from, '--to', to];
      expect(await latchkey(words, {})).toMatchObject({ code: 0 });
      expect(await latchkey([...words, '--last'], {})).toMatchObject({ code: 0 });
      expect(await codeOf({ DATABASE_URL: to, EVENTS_KEY: B })).toBe(78);
      expect(await codeOf({ DATABASE_URL: to, EVENTS_KEY: A })).toBe(0);
      expect(await codeOf({ DATABASE_URL: to, EVENTS_KEY: B })).toBe(78);
      // Of the source that is taken back into use, too.
      expect(await codeOf({ EVENTS_KEY: B }, '--copied')).toBe(78);
    }));

  test('is known in a backup, and a restore does not ask for it', ({ skip }) =>
    onDatabase(A, async () => {
      skip(database.system !== 'sqlite', 'not run: the database is backed up with its own tools');
      const [backup, log] = [join(folder, 'backup.db'), join(folder, 'log')];
      expect(await latchkey(['backup', backup], {})).toMatchObject({ code: 0 });
      expect(await codeOf({ EVENTS_KEY: B, EVENTS_KEY_PREVIOUS: A })).toBe(0);
      expect(await codeOf({ EVENTS_KEY: B })).toBe(0);
      await writeFile(log, running.map(({ run }) => run.stderr).join(''));
      const restore = ['restore', backup, '--log', log, '--accept-gap'];
      const restored = await latchkey(restore, { EVENTS_KEY: B });
      expect(restored.code, restored.stderr).toBe(0);
      // The endpoints have secrets of the old one again.
      expect(await codeOf({ EVENTS_KEY: B })).toBe(78);
      expect(await codeOf({ EVENTS_KEY: B, EVENTS_KEY_PREVIOUS: A })).toBe(0);
    }));

  test('is replaced by SIGHUP under the same conditions', () =>
    onDatabase(A, async () => {
      const [now, before] = [join(folder, 'now'), join(folder, 'before')];
      await writeFile(now, A);
      await writeFile(before, A);
      const files = { EVENTS_KEY_FILE: now, EVENTS_KEY_PREVIOUS_FILE: before };
      const server = launch(files);
      const [, url] = await server.printed(/^Latchkey listens on (\S+),/m);
      const tell = async (msg: string, times: number) => {
        server.kill('SIGHUP');
        await expect.poll(() => server.run.stderr.split(`"msg":"${msg}"`).length - 1).toBe(times);
      };
      const rotated = async () => {
        const headers = {
          ...{ authorization: `Bearer ${ADMIN_SECRET}`, 'content-type': 'application/json' },
        };
        const list = await (await fetch(`${url}/admin/endpoints`, { headers })).json();
        const { id } = (list as { data: { id: string }[] }).data[0] as { id: string };
        const options = { method: 'POST', headers, body: JSON.stringify({ overlap_seconds: 0 }) };
        const response = await fetch(`${url}/admin/endpoints/${id}/rotate`, options);
        const { secret, secret_version } = (await response.json()) as Record<string, string>;
        return [A, B, C].findIndex((key) =>
          [secret_version, 2, 3, 4].some(
            (version) => endpointSecret(key, id, Number(version)) === secret,
          ),
        );
      };
      await writeFile(now, B);
      await tell('the secrets were read again', 1);
      expect(await rotated()).toBe(1);
      await writeFile(before, C);
      await writeFile(now, C);
      await tell('the secrets stay as they were', 1);
      expect(server.run.stderr).toContain('EVENTS_KEY is another key');
      expect(await rotated()).toBe(1);
      await writeFile(now, B);
      await writeFile(before, B);
      await tell('the secrets were read again', 2);
      server.kill('SIGTERM');
      expect((await server.ended).code).toBe(0);
      expect(server.run.stderr).not.toContain('-key-of-events');
      expect(await codeOf({ EVENTS_KEY: B })).toBe(0);
    }));

  test('of a service that was started before there were any, signs for none of another one', () =>
    onDatabase(A, async () => {
      const headers = {
        ...{ authorization: `Bearer ${ADMIN_SECRET}`, 'content-type': 'application/json' },
      };
      const { stdout } = await latchkey(['endpoint', 'list', '--json'], { EVENTS_KEY: A });
      const { id } = JSON.parse(stdout).data[0];
      await latchkey(['endpoint', 'delete', id, '--yes'], { EVENTS_KEY: A });
      const server = launch({ EVENTS_KEY: B });
      const [, url] = await server.printed(/^Latchkey listens on (\S+),/m);
      const create = ['endpoint', 'create', 'http://127.0.0.1:9/events', '--json'];
      const made = await latchkey(create, { EVENTS_KEY: A });
      const other = JSON.parse(made.stdout).id;
      for (const [path, body] of [
        ['', { url: 'http://127.0.0.1:9/other' }],
        [`/${other}/rotate`, { overlap_seconds: 0 }],
      ] as const) {
        const options = { method: 'POST', headers, body: JSON.stringify(body) };
        const response = await fetch(`${url}/admin/endpoints${path}`, options);
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({ error_code: 'store_unavailable' });
      }
      expect(server.run.stderr).toContain('EVENTS_KEY is another key');
    }));

  test('is not the one of the demo, which has another one at each start', () =>
    onDatabase(A, async () => {
      await expect(startDemo({}, database.url)).rejects.toThrow(/EVENTS_KEY is not set/);
      const { stdout } = await latchkey(['endpoint', 'list', '--json'], { EVENTS_KEY: A });
      const { id } = JSON.parse(stdout).data[0];
      await latchkey(['endpoint', 'delete', id, '--yes'], { EVENTS_KEY: A });
      for (const _ of ['once', 'again']) await (await startDemo({}, database.url)).close();
      const store = await driverOf(database.url).open(database.url, { clock: Date.now });
      const { current } = fingerprintsOf({ current: A, previous: null });
      expect(await store.findEventsKeys()).toEqual([current]);
      await store.close();
      // The endpoint of the demo has no secret that anybody was told.
      expect(await codeOf({ EVENTS_KEY: B })).toBe(0);
    }));
});
