import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DomainError } from '@latchkey/domain/domain-error';
import { newEndpoint } from '@latchkey/rules/events/endpoints';
import { formatTimestamp, uuidToBytes } from '@latchkey/schema';
import { newDelivery } from '@latchkey/store/delivery';
import { ping } from '@latchkey/store/event';
import type { Finding } from '@latchkey/store/finding';
import type { GrantAuthentication, GrantRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { mongoHarness } from '@latchkey/store-mongodb/test/mongo-harness';
import { checkDamage } from '@latchkey/store-sqlite/check-damage';
import { damage } from '@latchkey/store-sqlite/test/damage';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { v7 } from 'uuid';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkRedemption } from '../../src/doctor/check-redemption.ts';
import { closeService, openService } from '../../src/open-service.ts';
import { driverOf } from '../../src/open-store.ts';
import { succeed } from '../http/call.ts';
import { runInProcess, startCommand } from '../http/command-process.ts';
import {
  describeOnEachStore,
  rowsOf,
  sqliteDatabase,
  type TestDatabase,
} from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { launchServer, listening } from '../http/served-process.ts';
import { manyGrants } from './many-grants.ts';

async function doctor(environment: NodeJS.ProcessEnv, ...words: string[]) {
  const { code, stdout, stderr } = await runInProcess(['doctor', '--json', ...words], environment);
  const { data, ...rest }: { data: Finding[]; object: string; result: string } = JSON.parse(stdout);
  const problems = data.filter(({ level }) => level === 'problem');
  // The exit code, the result and the last line never contradict the findings.
  expect(rest).toEqual({ object: 'doctor', result: problems.length === 0 ? 'ok' : 'problem' });
  expect(code).toBe(problems.length === 0 ? 0 : 1);
  expect(stderr).toMatch(problems.length === 0 ? /^$/ : /^There (is|are) \d+ problems?\.\n$/);
  for (const { level, advice } of data) {
    if (level !== 'ok' && level !== 'skipped') expect(advice).toBeTruthy();
  }
  return data;
}

const of = (data: Finding[], level: Finding['level']) =>
  data.filter((finding) => finding.level === level).map(({ check }) => check);

/** The fences of MongoDB only count. */
async function recordsOf(url: string): Promise<Record<string, unknown[]>> {
  const records: Record<string, unknown[]> = {};
  if (url.startsWith('file:')) {
    const opened = new DatabaseSync(url.slice('file:'.length));
    // The mark of the log has a time.
    const tables = opened
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'wal_mark'")
      .all();
    for (const { name } of tables) {
      records[String(name)] = opened.prepare(`SELECT * FROM "${name}"`).all();
    }
    opened.close();
    return records;
  }
  if (url.startsWith('postgres')) return rowsOf(url);
  await using client = new MongoClient(url);
  for (const collection of await client.db().collections()) {
    if (collection.collectionName === 'fences') continue;
    records[collection.collectionName] = await collection.find().sort({ _id: 1 }).toArray();
  }
  return records;
}

const everyCheck = [
  ...['node', 'settings', 'store', 'damage', 'version', 'topology', 'indexes', 'rights'],
  ...['write_concern', 'clock', 'tls', 'disk', 'events', 'work', 'convert'],
];

describeOnEachStore('the doctor', (fresh) => {
  test('finds no problem where there is none, converts a code, and leaves nothing behind', async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    await manyGrants(database.url, 4);
    const before = await recordsOf(database.url);
    const data = await doctor({ DATABASE_URL: database.url });
    expect(new Set(data.map(({ check }) => check))).toEqual(new Set(everyCheck));
    expect(of(data, 'problem')).toEqual([]);
    expect(data.at(-1)).toMatchObject({
      check: 'convert',
      level: 'ok',
      found: expect.stringMatching(/^A code was converted once, and its grant revoked: \d+ ms\.$/),
    });

    expect(await recordsOf(database.url)).toEqual(before);
  });

  test('says whether events are on, and warns of endpoints that fail and events that are late', async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    const EVENTS_KEY = 'an-events-key-of-32-characters-or-more';
    const ADMIN_SECRET = 'a-secret-of-thirty-two-characters';
    const on = { DATABASE_URL: database.url, EVENTS_KEY, ADMIN_SECRET };
    const off = { DATABASE_URL: database.url };
    const aboutEvents = async (settings: NodeJS.ProcessEnv) =>
      (await doctor(settings))
        .filter(({ check }) => check === 'events')
        .map(({ level, found }) => `${level}: ${found}`);

    const store = await driverOf(database.url).open(database.url, {
      clock: Date.now,
      recordsEvents: true,
    });
    onTestFinished(() => store.close());
    expect(await aboutEvents(off)).toEqual(['ok: Events are off: EVENTS_KEY is not set.']);
    const url = 'https://app.example/events';
    const now = Date.now();
    const [works, fails, gone] = [v7(), v7(), v7()];
    for (const id of [works, fails, gone]) {
      const endpoint = newEndpoint(id, { url, application_id: null, types: null }, now);
      expect(await store.createEndpoint(endpoint, { most: 5 })).toBe('created');
    }
    expect(await aboutEvents(on)).toEqual(['ok: Events are on: 3 endpoints, 0 not delivered yet.']);
    expect(await aboutEvents(off)).toEqual([expect.stringMatching(/^problem: .+ 3 endpoints: /)]);

    // Two tries fail, two hours ago.
    const at = now - 2 * 3_600_000;
    const claim = v7();
    for (const endpoint_id of [fails, gone]) {
      const delivery = {
        ...newDelivery(ping({ id: v7(), at }, endpoint_id), endpoint_id, now),
        claim,
      };
      expect(await store.createPing({ ...delivery, body: '{}' })).not.toBeNull();
      const attempt = { at, duration_ms: 1, result: 'refused' as const, status_code: 410 };
      const ended = { delivery_id: delivery.id, claim, endpoint_id, url, attempt, now: at };
      await store.endTries([{ ...ended, isGone: endpoint_id === gone, next_attempt_at: null }]);
    }
    await store.createPing({
      ...newDelivery(ping({ id: v7(), at }, works), works, now + 60_000),
      ...{ claim, body: '{}' },
    });
    expect(await aboutEvents(on)).toEqual([
      `warning: 1 endpoint failed at the last try: ${fails} since ${formatTimestamp(at)}.`,
      `warning: 1 endpoint failed until disabled, and heard of nothing since: ${gone} (gone).`,
      `warning: The oldest event that is not delivered happened at ${formatTimestamp(at)}.`,
    ]);
  });

  test('finds a database that is not there, and creates none', async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    for (let round = 0; round < 2; round += 1) {
      const data = await doctor({ DATABASE_URL: database.url });
      expect(of(data, 'problem')).toEqual(['store']);
      expect(data.at(-1)).toMatchObject({ check: 'convert', level: 'skipped' });
    }
  });
});

describe('the doctor on SQLite', () => {
  let database: TestDatabase;
  let path: string;
  const settings = () => ({ DATABASE_URL: database.url });
  const sql = (text: string) => {
    const opened = new DatabaseSync(path, { defensive: false });
    opened.exec(text);
    opened.close();
  };
  beforeEach(async () => {
    database = await sqliteDatabase();
    path = database.url.slice('file:'.length);
    await manyGrants(database.url, 4);
  });
  afterEach(() => database.remove());

  test('says how to create an index that is missing', async () => {
    sql('DROP INDEX grants_by_account');
    const [found] = (await doctor(settings())).filter(({ level }) => level === 'problem');
    expect(found).toMatchObject({ check: 'indexes', found: expect.stringContaining('by_account') });
    sql(found?.advice?.replace('Run with sqlite3: ', '') ?? '');
    expect(of(await doctor(settings()), 'problem')).toEqual([]);
  });

  test('finds a damaged page, and with --deep an index that lacks a row', async () => {
    sql(`PRAGMA writable_schema = ON;
      CREATE INDEX by_scope ON grants (scope);
      UPDATE sqlite_schema SET sql = 'CREATE INDEX by_scope ON grants (scope || 1)' WHERE name = 'by_scope'`);
    expect(of(await doctor(settings()), 'problem')).toEqual([]);
    expect(of(await doctor(settings(), '--deep'), 'problem')).toEqual(['damage']);

    damage(path, 'grants');
    for (const words of [[], ['--deep']]) {
      const data = await doctor(settings(), ...words);
      expect(of(data, 'problem')).toEqual(['damage']);
      expect(data.at(-1)).toMatchObject({ check: 'convert', level: 'skipped' });
    }
  });

  test('says that the check of a large file has not finished, and ends it', async () => {
    const finding = await checkDamage(path, { deep: false, seconds: 0.001 });
    expect(finding).toMatchObject({ level: 'warning', found: expect.stringContaining('finished') });
  });

  test('holds up no request of a service, however long the check of the file takes', async () => {
    const server = launchServer(database.url);
    onTestFinished(() => server.kill('SIGKILL'));
    const service = { url: await listening(server) };
    // Within the check, which reads one moment of the database and does not end.
    const CHECKS = `${path}.checks`;
    const hooks = `
      const { writeFileSync } = process.getBuiltinModule('node:fs');
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      const { prepare } = DatabaseSync.prototype;
      DatabaseSync.prototype.prepare = function (statement) {
        if (statement.includes('quick_check')) {
          this.exec('BEGIN');
          prepare.call(this, 'SELECT count(*) FROM accounts').get();
          writeFileSync(process.env.CHECKS, String(process.pid));
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        }
        return prepare.call(this, statement);
      };`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hooks)}`;
    const checking = startCommand(['doctor'], { ...settings(), NODE_OPTIONS, CHECKS });
    const pid = await vi.waitFor(async () => {
      const text = await readFile(CHECKS, 'utf8');
      expect(text).not.toBe('');
      return Number(text);
    }, 60_000);
    const { link, bearer, account_id } = await linkedApplication(service);
    const { grant_id } = await link();
    await succeed(service, 'grants.revoke', { grant_id }, bearer);
    await succeed(service, 'admin.accounts.erase', { account_id }, operator);
    expect(checking.run.code).toBeNull();
    process.kill(pid, 'SIGKILL');
    expect((await checking.ended).stdout).toMatch(/^ok {7}convert /m);
  });

  test('finds what is no database of Latchkey, and one of a newer version, and changes neither', async () => {
    for (const [version, check] of [
      [0, 'store'],
      [999, 'version'],
    ] as const) {
      sql(`PRAGMA user_version = ${version}`);
      const data = await doctor(settings());
      expect(of(data, 'problem')).toEqual([check]);
      expect(JSON.stringify(data).includes('a newer Latchkey')).toBe(version === 999);
      const opened = new DatabaseSync(path);
      expect(opened.prepare('PRAGMA user_version').get()).toEqual({ user_version: version });
      opened.close();
    }
  });

  test('finds rights of others, and a grant from the future', async () => {
    await chmod(path, 0o644);
    expect(of(await doctor(settings()), 'warning')).toEqual(['rights']);
    const opened = new DatabaseSync(path);
    const id = v7({ msecs: Date.now() + 3_600_000 });
    opened
      .prepare('UPDATE grants SET id = ? WHERE id = (SELECT max(id) FROM grants)')
      .run(uuidToBytes(id));
    opened.close();
    expect(of(await doctor(settings()), 'problem')).toEqual(['clock']);
  });

  test('finds a limit of open files that is low', async () => {
    const within = ['sh', '-c', 'ulimit -n 512; exec "$@"', 'sh'];
    const { stdout } = await startCommand(['doctor', '--json'], settings(), { within }).ended;
    expect(JSON.parse(stdout).data).toContainEqual(
      expect.objectContaining({ level: 'warning', found: expect.stringContaining('512 files') }),
    );
  });

  const isRoot = process.getuid?.() === 0;
  const note = isRoot ? '' : ' (not run: only root can be another user)';
  test.runIf(isRoot)(`tells another user that it is the wrong one${note}`, async () => {
    // Root without its rights is a user like any other, who can read the program wherever it is.
    const within = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];
    await chown(dirname(path), 65534, 65534);
    await chmod(dirname(path), 0o700);
    const { stdout } = await startCommand(['doctor', '--json'], settings(), { within }).ended;
    const { data }: { data: Finding[] } = JSON.parse(stdout);
    expect(of(data, 'problem')).toEqual(['rights']);
    expect(data.at(-1)).toMatchObject({ check: 'convert', level: 'skipped' });
  });

  test('finds a file that is no database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-doctor-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    expect(of(await doctor({ DATABASE_URL: `file:${folder}` }), 'problem')).toEqual(['store']);
  });

  test('prints a line for each finding, and under it what to do', async () => {
    const { code, stdout, stderr } = await runInProcess(['doctor'], {
      ...settings(),
      RATE_LIMIT: 'off',
      PUBLIC_URL: 'http://link.example.com',
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'There is 1 problem.\n' });
    expect(stdout).toMatch(/^ok {7}node {11}.* is Node \d.*; 22\.13 or later is needed\.$/m);
    expect(stdout).toMatch(/^warning {2}settings {7}RATE_LIMIT is off: .*\n {24}→ Unset it, .*\n/m);
    expect(stdout).toMatch(/^problem {2}tls {12}PUBLIC_URL is http, .*\n {24}→ Put a proxy .*\n/m);
    expect(stdout).toMatch(/^ok {7}convert {8}.*\n$/m);
  });
});

/** The service of a doctor whose store fails where a test says. */
async function convertOn(members: (store: Store) => Partial<Store>): Promise<Finding[]> {
  const service = await openService('file::memory:', pino({ enabled: false }));
  onTestFinished(() => closeService(service));
  const store = { ...service.store, ...members(service.store) };
  const findings: Finding[] = [];
  for await (const finding of checkRedemption({ ...service, store })) findings.push(finding);
  return findings;
}

describe('what the doctor says of a conversion', () => {
  const unavailable = () => Promise.reject(new DomainError('store_unavailable'));

  test('a code that works twice is a problem', async () => {
    const [finding] = await convertOn((store) => {
      let first: Promise<GrantRecord | null> | undefined;
      return { redeemCode: (redemption) => (first ??= store.redeemCode(redemption)) };
    });
    expect(finding).toMatchObject({ level: 'problem', found: 'A code was converted twice.' });
  });

  test('a second try that fails proves nothing', async () => {
    const [finding] = await convertOn((store) => {
      let tries = 0;
      return {
        redeemCode: (redemption) => (++tries === 1 ? store.redeemCode(redemption) : unavailable()),
      };
    });
    expect(finding).toMatchObject({
      level: 'warning',
      found: 'A code was converted; the second try failed: store_unavailable.',
      advice: expect.stringContaining('Run latchkey doctor again'),
    });
  });

  test('a grant that works after its revocation is a problem', async () => {
    const [finding] = await convertOn((store) => {
      let before: GrantAuthentication | null = null;
      return {
        async revokeGrant(revocation) {
          before = await store.authenticateGrant(revocation.grant_id, { currentAccount: false });
          return store.revokeGrant(revocation);
        },
        authenticateGrant: async () => before,
      };
    });
    expect(finding).toMatchObject({ level: 'problem', found: 'A revoked grant still works.' });
  });

  test('a grant of an interrupted doctor never works', async () => {
    const reached = Promise.withResolvers<GrantAuthentication | null>();
    const { promise: forever } = Promise.withResolvers<never>();
    void convertOn((store) => ({
      async revokeGrant({ grant_id }) {
        reached.resolve(await store.authenticateGrant(grant_id, { currentAccount: true }));
        return forever;
      },
    }));
    expect(await reached.promise).toMatchObject({ application_disabled: true });
  });

  test.each(['issueCode', 'redeemCode', 'revokeGrant'] as const)(
    'if %s fails, nothing is left either',
    async (method) => {
      let left: unknown;
      const [finding, ...others] = await convertOn((store) => ({
        [method]: unavailable,
        async removeTrial(trial) {
          await store.removeTrial(trial);
          left = [
            await store.findApplication(trial.application_id),
            await store.findAccount(trial.account_id),
            await store.findGrantHistory(trial.grant_id ?? trial.account_id),
          ];
        },
      }));
      expect(finding).toMatchObject({ level: 'problem', check: 'convert' });
      expect(others).toEqual([]);
      expect(left).toEqual([null, null, null]);
    },
  );

  test('what could not be removed is named', async () => {
    const [, finding] = await convertOn(() => ({ removeTrial: unavailable }));
    expect(finding).toMatchObject({
      level: 'warning',
      advice: expect.stringMatching(
        /^Run latchkey account erase \S+ and latchkey app delete \S+\.$/,
      ),
    });
  });

  test('a use that fails otherwise proves nothing', async () => {
    const [finding] = await convertOn(() => ({ authenticateGrant: unavailable }));
    expect(finding).toMatchObject({
      level: 'warning',
      found: 'A grant was revoked; the use of it failed: store_unavailable.',
    });
  });
});

describeOnMongodb('the doctor, with indexes', (server) => {
  test('finds missing ones and rivals', async () => {
    const database = await mongoHarness(server).fresh();
    const client = new MongoClient(database.url);
    onTestFinished(async () => {
      await client.close();
      await database.remove();
    });
    await manyGrants(database.url, 4);
    const grants = client.db().collection('grants');
    await grants.dropIndex('grants_by_account');
    const missing = await doctor({ DATABASE_URL: database.url });
    expect(missing.find(({ check }) => check === 'indexes')).toMatchObject({
      level: 'warning',
      advice: expect.stringContaining('db.grants.createIndex({"account_id":1,"_id":1}'),
    });
    await grants.createIndex({ scope: 1 }, { name: 'grants_by_account' });
    const rival = await doctor({ DATABASE_URL: database.url });
    expect(of(rival, 'problem')).toEqual(['indexes']);
  });
});

test.each([
  ['settings', { PORT: 'quicksilver' }],
  ['settings', { DATABASE_URL: 'postgres://u:quicksilver@h' }],
  ['store', { DATABASE_URL: 'mongodb://u:quicksilver@127.0.0.1:1/latchkey' }],
  ['store', { DATABASE_URL: 'postgres://u:quicksilver@127.0.0.1:1/latchkey' }],
] as const)(
  'the doctor finds a problem of the %s in %j, and prints no value',
  async (check, settings) => {
    const data = await doctor(settings);
    expect(of(data, 'problem')).toEqual([check]);
    expect(JSON.stringify(data)).not.toContain('quicksilver');
  },
);
