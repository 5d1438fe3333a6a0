import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { copyDatabase } from '@latchkey/store/copy-database';
import { ERASED, type GrantRecord } from '@latchkey/store/records';
import { SCHEMA } from '@latchkey/store/schema-version';
import type { Store, StoreOptions } from '@latchkey/store/store';
import type { Transfer } from '@latchkey/store/transfer';
import { finishAll, sweep } from '@latchkey/store-suite/finish';
import {
  aCommandChange,
  aDeletion,
  aKeptDocument,
  anAccount,
  anApplication,
  anEndpoint,
  anId,
  anInitiator,
  aScope,
  aSecret,
  type Granted,
  granted,
  identified,
  issued,
  recoveryOf,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { slow } from '@latchkey/test-kit/long';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { Collection } from 'mongodb';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { runInProcess, startCommand } from '../http/command-process.ts';
import { mongoDatabase, postgresqlDatabase, type TestDatabase } from '../http/databases.ts';
import { startTestServer } from '../http/running-server.ts';

let folder: string;
const at = (name: string) => `file:${join(folder, name)}`;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-copy-'));
  // Once its processes have ended: what is said first comes last.
  onTestFinished(() => rm(folder, { recursive: true }));
});

const copy = (from: string, to: string, ...words: string[]) =>
  runInProcess(['copy', '--from', from, '--to', to, ...words], {});

async function copied(from: string, to: string, ...words: string[]) {
  const { code, stdout, stderr } = await copy(from, to, '--json', ...words);
  expect({ code, stdout }, stderr).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

async function refusal(from: string, to: string, ...words: string[]): Promise<string> {
  const { code, stderr } = await copy(from, to, ...words);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr;
}

async function on<T>(
  url: string,
  use: (store: Store) => Promise<T>,
  options: Partial<StoreOptions> = {},
): Promise<T> {
  const store = await driverOf(url).open(url, { clock: Date.now, ...options });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** As a service does when it starts, and a command that changes something. */
const claim = (url: string, evenIfCopied = false) =>
  on(url, async () => {}, { claim: { evenIfCopied } });

/** Starts a command that is killed at the end of the test, whatever it does. */
function start(...args: Parameters<typeof startCommand>) {
  const command = startCommand(...args);
  onTestFinished(async () => {
    command.kill('SIGKILL');
    await command.ended;
  });
  return command;
}

type Around = (database: Transfer) => Partial<Transfer>;
const asIs: Around = () => ({});

/** Copies with databases that a test has put something around. */
async function copyWith(
  [from, to]: [string, string],
  last: boolean,
  around: { source?: Around; target?: Around },
): Promise<void> {
  const source = await driverOf(from).openSource(from, { last });
  const target = await driverOf(to).openTarget(to);
  const changed = (database: Transfer, change = asIs) => ({ ...database, ...change(database) });
  try {
    const [of, into] = [changed(source, around.source), changed(target, around.target)];
    await copyDatabase(of, into, { last });
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

type Paths = [string, string, string];

type FiveGrants = [Granted, Granted, Granted, Granted, Granted];

const page = { limit: 99, before: null };

/** A database with a grant in each state. */
async function fill(
  url: string,
  options: Partial<StoreOptions> = { claim: { evenIfCopied: false } },
) {
  const work = async (store: Store) => {
    const application = anApplication({ secrets: [aSecret(), aSecret()] });
    await store.createApplication(application);
    const scope = aScope();
    await store.putScope(scope, { most: 200 });
    const account = anAccount({ external_id: anId() });
    await store.putAccount(account);
    const own = { application_id: application.id, account };
    const grants = await Promise.all(Array.from({ length: 5 }, () => granted(store, own)));
    const [active, used, revoked, recovered, both] = grants as FiveGrants;
    const now = Date.now();
    const use = async ({ grant, secret_hash }: Granted) => {
      const { grant_id } = grant;
      expect(await store.noteUse({ grant_id, secret_hash, now, initiator: anInitiator() })).toBe(
        true,
      );
    };
    await use(used);
    await use(both);
    const revoke = ({ grant_id }: GrantRecord) =>
      store.revokeGrant({ grant_id, application_id: null, now, initiator: anInitiator() });
    await revoke(revoked.grant);
    await revoke(both.grant);
    await store.recoverGrant(recoveryOf(recovered.grant, { initiator: anInitiator() }));
    const change = aCommandChange();
    await store.keepCommandChanges([change, aCommandChange()]);
    const pending = await issued(store, own);
    const { link, page } = await identified(store, {}, account);
    const under_way = { pending, link, page };
    return { scope, application, account, grants, active, used, recovered, change, ...under_way };
  };
  return on(url, work, options);
}
type Filled = Awaited<ReturnType<typeof fill>>;

/** All that the port shows of it. */
const contents = (url: string, { application, account, grants }: Filled) =>
  on(url, async (store) => ({
    scopes: await store.listScopes(),
    applications: await store.listApplications(page),
    work: await store.listWork(9),
    accounts: await store.listAccounts({}, page),
    changes: await store.listCommandChanges(99),
    account: await store.findAccount(account.id),
    listed: await store.listGrants({ application_id: application.id }, page),
    grants: await Promise.all(
      grants.map(async ({ grant: { grant_id } }) => [
        await store.authenticateGrant(grant_id, { currentAccount: true }),
        await store.findGrantHistory(grant_id),
        await store.findCode(grant_id),
      ]),
    ),
  }));

/** Takes the details off the grants that are revoked by now. */
async function reduce(url: string): Promise<void> {
  const clock = () => Date.now() + 86_400_000;
  const store = await driverOf(url).open(url, { clock, revokedGrantDays: 1 });
  await sweep(store, clock());
  await store.close();
}

const nothing = { written: 0, removed: 0 };

/** What every pair of databases has to do. */
function describeCopy(fresh: () => Promise<[from: string, to: string]>): void {
  test('brings everything but what is under way, and writes nothing twice', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    await reduce(from);
    const { application, account } = filled;
    // The reduction has deleted the other one on SQLite.
    const pending = await on(from, (store) =>
      issued(store, { application_id: application.id, account }),
    );
    const before = await contents(from, filled);
    const numbers = { scopes: 1, applications: 1, accounts: 1, grants: 5, command_changes: 2 };
    expect(await copied(from, to)).toMatchObject({ ...numbers, written: 10, removed: 0 });
    expect(await contents(to, filled)).toEqual(before);
    await on(to, async (store) => {
      expect(await store.findCode(pending.grant_id)).toBeNull();
      expect(await store.findLink(filled.link.id)).toBeNull();
      expect(await store.findPage(filled.page.id)).toBeNull();
    });
    expect(await copied(from, to)).toMatchObject({ ...numbers, ...nothing });
    expect(await contents(from, filled)).toEqual(before);
    expect(await on(from, (store) => store.redeemCode(redemptionOf(pending)))).not.toBeNull();
  });

  test('brings the documents that are kept, and those that are pinned', async () => {
    const [from, to] = await fresh();
    const [kept, { kept_until: _, ...pin }] = [aKeptDocument(), aKeptDocument()];
    const keep = async (store: Store) => {
      await store.keepDocument(kept);
      await store.pinDocument(pin, { most: 9 });
    };
    await on(from, keep, { claim: { evenIfCopied: false } });
    expect(await copied(from, to)).toMatchObject({ kept_documents: 2 });
    await on(to, async (store) => {
      const documents = await store.listKeptDocuments({ limit: 9, after: null }, { now: 0 });
      expect(documents).toHaveLength(2);
      expect(documents).toEqual(expect.arrayContaining([kept, { ...pin, kept_until: null }]));
      expect(await store.listPinned()).toEqual([pin.document_uri]);
    });
  });

  test('brings endpoints, and with them what is still to be told', async () => {
    const [from, to] = await fresh();
    const [application, deleted] = [anApplication(), anApplication({ disabled: true })];
    const endpoints = [
      anEndpoint({ types: ['grant.created'], secret_version: 2, overlap_until: 7 }),
      anEndpoint({ application_id: application.id, disabled_reason: 'gone', failures: 3 }),
      anEndpoint({ application_id: deleted.id, types: ['grant.revoked'] }),
    ] as const;
    const [host, own, hidden] = endpoints;
    const recording = { claim: { evenIfCopied: false }, recordsEvents: true };
    const makeAll = async (store: Store) => {
      while (await store.makeDeliveries(Date.now())) {}
    };
    await on(
      from,
      async (store) => {
        for (const one of [application, deleted]) await store.createApplication(one);
        for (const one of endpoints) await store.createEndpoint(one, { most: 9 });
        const gone = anEndpoint({ types: ['grant.created'] });
        await store.createEndpoint(gone, { most: 9 });
        await granted(store, { application_id: deleted.id });
        await makeAll(store);
        await store.deleteEndpoint(gone.id, Date.now());
      },
      recording,
    );
    await copied(from, to);
    await on(
      from,
      async (store) => {
        const deletion = aDeletion({ application_id: deleted.id });
        await store.deleteApplication(deletion);
        await finishAll(store);
        await store.deleteEndpoint(own.id, Date.now());
      },
      recording,
    );
    expect(await copied(from, to, '--last')).toMatchObject({ endpoints: 2, deliveries: 2 });
    expect(await copied(from, to, '--last')).toMatchObject(nothing);
    await on(to, async (store) => {
      expect(await store.listEndpoints({}, page)).toEqual([host]);
      const now = Date.now() + 5;
      const due = await store.claimDeliveries({
        ...{ now, claim: anId() },
        endpoints: endpoints.map(({ id }) => ({ id, most: 9 })),
      });
      expect(due.map(({ delivery: { type, endpoint_id } }) => [type, endpoint_id])).toEqual([
        ['grant.created', host.id],
        ['grant.revoked', hidden.id],
      ]);
    });
  });

  test('brings what is new and what has ended when it is repeated', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    const { active, used, recovered, pending, application, account, scope, change } = filled;
    const deleted = anApplication({ disabled: true });
    const erased = anAccount();
    const ended = await on(from, async (store) => {
      await store.createApplication(deleted);
      return [
        await granted(store, { application_id: application.id, account: erased }),
        await granted(store, { application_id: deleted.id, account }),
      ];
    });
    await copied(from, to);
    const all = { ...filled, grants: [...filled.grants, ...ended] };
    const [, removed] = application.secrets;
    const now = Date.now();
    const initiator = anInitiator();
    await on(from, async (store) => {
      await store.revokeGrant({ ...active.grant, application_id: null, now, initiator });
      await store.revokeGrant({ ...used.grant, application_id: null, now, initiator });
      await store.recoverGrant(recoveryOf(recovered.grant));
      await store.redeemCode(redemptionOf(pending, { now, initiator }));
      await store.removeSecret(application.id, removed?.id ?? '');
      await store.addSecret(application.id, aSecret({ created_at: now + 1 }), { most: 5, now });
      await store.putAccount({ ...account, username: 'renamed' });
      await store.deleteScope(scope.scope);
      await store.putScope(aScope(), { most: 200 });
      await store.forgetCommandChanges([change.id]);
      await store.markErasure({ account_id: erased.id, now, initiator });
      await finishAll(store);
      // Its grant is not revoked yet.
      const deletion = { application_id: deleted.id, deleted_at: now, deleted_by: initiator };
      await store.deleteApplication(deletion);
      await granted(store, { application_id: application.id, account: anAccount() });
    });
    await copied(from, to);
    const expected = await contents(from, all);
    expect(expected).toMatchObject({ scopes: [{}], work: [{ application_id: deleted.id }] });
    expect(await contents(to, all)).toEqual(expected);
    await on(to, async (store) => {
      expect(await store.findAccount(erased.id)).toBeNull();
      const [grant] = await store.listGrants({ account_id: erased.id }, page);
      expect(grant).toMatchObject({ account: ERASED, revoked_at: now });
    });
    // The rest of the deletion.
    await on(from, finishAll);
    await copied(from, to);
    expect(await contents(to, all)).toEqual(await contents(from, all));
    expect(await copied(from, to)).toMatchObject(nothing);
  });

  test('removes what the target has besides', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    await copied(from, to);
    await on(to, async (store) => {
      await store.createApplication(anApplication());
      await store.putScope(aScope(), { most: 200 });
      await granted(store, { application_id: filled.application.id, account: anAccount() });
    });
    expect(await copied(from, to)).toMatchObject({ written: 0, removed: 4 });
    expect(await contents(to, filled)).toEqual(await contents(from, filled));
  });

  test('ends right if it was interrupted, and nothing uses the half of it', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    const failing = copyWith([from, to], false, {
      target: (target) => ({
        async write(kind, changes, mark) {
          if (kind.name === 'grants') throw new Error('interrupted');
          return target.write(kind, changes, mark);
        },
      }),
    });
    await expect(failing).rejects.toThrow('interrupted');
    await expect(claim(to)).rejects.toThrow('and not the last one');
    await on(from, (store) =>
      store.revokeGrant({
        ...filled.active.grant,
        application_id: null,
        initiator: anInitiator(),
        now: Date.now(),
      }),
    );
    await copied(from, to);
    expect(await contents(to, filled)).toEqual(await contents(from, filled));
    await expect(claim(to)).rejects.toThrow('and not the last one');
  });

  test('refuses a target that is used, or has data of its own, and leaves it', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    const others = await fill(to, {});
    const before = await contents(to, others);
    expect(await refusal(from, to)).toContain('has data of its own');
    const server = await startTestServer(to);
    await server.close();
    expect(await refusal(from, to)).toContain('is in use');
    expect(await refusal(from, to, '--last')).toContain('is in use');
    expect(await contents(to, others)).toEqual(before);
    await expect(claim(from)).resolves.toBeUndefined();
    expect(await contents(from, filled)).toMatchObject({ grants: expect.any(Array) });
  });

  test('the last one closes the source and opens the target, and may be repeated until then', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    await claim(from);
    await copied(from, to);
    await on(from, (store) =>
      store.revokeGrant({
        ...filled.active.grant,
        application_id: null,
        initiator: anInitiator(),
        now: Date.now(),
      }),
    );
    expect(await copied(from, to, '--last')).toMatchObject({ written: 1, last: true });
    expect(await copied(from, to, '--last')).toMatchObject({ ...nothing, last: true });
    expect(await contents(to, filled)).toEqual(await contents(from, filled));

    const environment = { DATABASE_URL: from, PORT: '0' };
    const serving = start(['serve'], environment).printed(/listens on/);
    await expect(serving).rejects.toThrow(/ended with 78: .*was copied to/);
    const { grant_id } = filled.used.grant;
    const revoking = await runInProcess(['grant', 'revoke', grant_id], environment);
    expect(revoking).toMatchObject({ code: 1, stderr: expect.stringContaining('was copied to') });
    expect((await runInProcess(['app', 'create', 'Acme'], environment)).code).toBe(1);
    expect((await runInProcess(['app', 'list'], environment)).code).toBe(0);
    const doctor = await runInProcess(['doctor', '--json'], environment);
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('was copied to') });
    // A job that copies every hour, and was forgotten, closes nothing.
    expect(await refusal(from, to)).toContain(`was copied to`);
    await claim(to);
    expect(await refusal(from, to, '--last')).toContain('is in use');
    expect(await refusal(from, at('elsewhere.db'))).toContain('was copied to');
    await expect(claim(from)).rejects.toThrow('was copied to');
    // The operator goes back.
    const back = start(['serve', '--copied'], environment);
    await back.printed(/listens on/);
    back.kill('SIGTERM');
    const { code, stderr } = await back.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /not revoked here: run `latchkey revoke-again --since \S+` with the logs/,
    );
    await claim(from);
  });

  test('a last copy that was interrupted closes both, until it is repeated', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    const failing = copyWith([from, to], true, {
      target: () => ({ write: () => Promise.reject(new Error('interrupted')) }),
    });
    await expect(failing).rejects.toThrow('interrupted');
    await expect(claim(from)).rejects.toThrow('was copied to');
    await expect(claim(to)).rejects.toThrow('and not the last one');
    await copied(from, to, '--last');
    expect(await contents(to, filled)).toEqual(await contents(from, filled));
    await expect(claim(from)).rejects.toThrow('was copied to');
    await claim(to);
  });

  test('a copy that was paused before a write leaves a target that is used by then', async () => {
    const [from, to] = await fresh();
    const { account } = await fill(from);
    const paused = copyWith([from, to], false, {
      target: (target) => ({
        async write(kind, ...args) {
          if (kind.name === 'accounts') {
            await claim(to, true);
            await on(to, (store) => store.putAccount({ ...account, username: 'of the service' }));
          }
          return target.write(kind, ...args);
        },
      }),
    });
    await expect(paused).rejects.toThrow('This copy has stopped');
    expect(await on(to, (store) => store.findAccount(account.id))).toMatchObject({
      username: 'of the service',
    });
  });

  test('a copy that another one or a service overtakes writes no more', async () => {
    const [from, to] = await fresh();
    const { account } = await fill(from);
    const rename = (username: string) =>
      on(from, (store) => store.putAccount({ ...account, username }));
    const atTarget = () => on(to, (store) => store.findAccount(account.id));
    for (const overtake of [() => copied(from, to), () => claim(to, true)]) {
      await rename('outdated');
      let left: unknown;
      const slow = copyWith([from, to], false, {
        source: (source) => ({
          async read(kind, range) {
            const records = await source.read(kind, range);
            if (kind.name === 'accounts' && range.limit > 1) {
              await rename('newest');
              await overtake();
              left = await atTarget();
            }
            return records;
          },
        }),
      });
      await expect(slow).rejects.toThrow('This copy has stopped');
      expect(await atTarget()).toEqual(left);
    }
  });
}

describe('copy from SQLite to SQLite', () => {
  describeCopy(async () => [at('a.db'), at('b.db')]);

  test('refuses a source that it cannot copy, and a target that is of another', async () => {
    await fill(at('a.db'));
    await fill(at('other.db'));
    expect(await refusal(at('none.db'), at('b.db'))).toContain('There is no database');
    expect(await refusal(at('a.db'), at('a.db'))).toContain('the same database');
    await copied(at('a.db'), at('b.db'));
    expect(await refusal(at('other.db'), at('b.db'))).toContain('is a copy of another database');
    expect(await refusal(at('b.db'), at('c.db'))).toContain('and not the last one');
    await on(at('empty.db'), async () => {});
    expect(await refusal(at('empty.db'), at('c.db'))).toContain('nothing to copy');
    await copied(at('a.db'), at('b.db'), '--last');
    expect(await refusal(at('other.db'), at('a.db'))).toContain('was itself copied');

    const newer = new DatabaseSync(join(folder, 'a.db'));
    newer.exec(`PRAGMA user_version = ${SCHEMA.version + 1}`);
    newer.close();
    expect(await refusal(at('a.db'), at('d.db'))).toContain('created by a newer Latchkey');
    const other = new DatabaseSync(join(folder, 'foreign.db'));
    other.exec('CREATE TABLE recipes (title TEXT)');
    other.close();
    const bytes = await readFile(join(folder, 'foreign.db'));
    expect(await refusal(at('foreign.db'), at('d.db'), '--last')).toContain('is not a database of');
    expect(await readFile(join(folder, 'foreign.db'))).toEqual(bytes);
    const usage = await copy('mysql://localhost/a', at('d.db'));
    expect(usage).toMatchObject({ code: 2, stderr: expect.stringContaining('must start with') });
  });

  test('takes each URL from the command line or from a file, and prints none that is wrong', async () => {
    const [from, to, wrong] = ['from', 'to', 'wrong'].map((name) => join(folder, name)) as Paths;
    await writeFile(from, `${at('a.db')}\n`);
    await writeFile(to, at('b.db'));
    await writeFile(wrong, 'quicksilver');
    await fill(at('a.db'));
    const run = (...words: string[]) => runInProcess(['copy', '--json', ...words], {});
    for (const [words, why] of [
      [[], "give either '--from' or '--from-file'"],
      [['--from', at('a.db'), '--from-file', from, '--to-file', to], "or '--from-file'"],
      [['--from-file', from], "give either '--to' or '--to-file'"],
      [['--from-file', wrong, '--to-file', to], 'It must start with file:'],
      [['--from', 'mongo://ada:quicksilver@db', '--to-file', to], 'It must start with file:'],
      [
        ['--from-file', from, '--to', 'postgres://ada:quicksilver@db'],
        'It must be like postgresql',
      ],
      [['--from-file', from, '--to', 'file://./b.db'], 'It must have no host: '],
      [['--from', 'file:./a.db?key=quicksilver', '--to-file', to], '; write file:./a.db.'],
      [['--from-file', from, '--to', 'file::memory:'], 'must not be a database in memory'],
      [['--from', `"${at('a.db')}"`, '--to-file', to], 'It must have no quotes around it'],
      [['--from-file', 'mongodb://ada:quicksilver@db', '--to-file', to], 'cannot read it (ENOENT)'],
      [['--from-file', from, '--to-file', join(folder, 'none')], 'cannot read it (ENOENT)'],
    ] as const) {
      const { code, stdout, stderr } = await run(...words);
      expect({ code, stdout, stderr }).toEqual({
        ...{ code: 2, stdout: '' },
        stderr: expect.stringContaining(why),
      });
      expect(stderr).not.toContain('quicksilver');
    }
    const first = await run('--from-file', from, '--to-file', to);
    expect(first, first.stderr).toMatchObject({ code: 0 });
    const second = await run('--from', at('a.db'), '--to-file', to);
    expect(JSON.parse(second.stdout)).toMatchObject({ applications: 1, written: 0, removed: 0 });
  });

  test('the last one refuses a source that a process uses, and none can open it meanwhile', async () => {
    const [from, to] = [at('a.db'), at('b.db')];
    const filled = await fill(from);
    await on(from, async (store) => {
      expect(await refusal(from, to, '--last')).toContain('A process uses');
      expect(await store.findAccount(filled.account.id)).toEqual(filled.account);
    });
    await claim(from);
    let locked = 0;
    await copyWith([from, to], true, {
      target: (target) => ({
        async write(...args) {
          const other = new DatabaseSync(join(folder, 'a.db'));
          expect(() => other.prepare('SELECT * FROM use_mark').get()).toThrow('locked');
          other.close();
          locked += 1;
          return target.write(...args);
        },
      }),
    });
    expect(locked).toBeGreaterThan(0);
  });
});

/** What every database does that is no file. */
function describeOnServer(remote: () => Promise<string>): void {
  describe('from SQLite', slow, () => describeCopy(async () => [at('a.db'), await remote()]));
  describe('to SQLite', slow, () => describeCopy(async () => [await remote(), at('b.db')]));
  describe('to another', slow, () => describeCopy(async () => [await remote(), await remote()]));

  test.each<[string, (service: Store, grant: GrantRecord) => Promise<unknown>]>([
    [
      'reads, behind a fence,',
      (service, { grant_id }) => service.authenticateGrant(grant_id, { currentAccount: false }),
    ],
    [
      'revokes a grant that was copied',
      (service, grant) =>
        service.revokeGrant({
          ...{ grant_id: grant.grant_id, application_id: null, now: Date.now() },
          initiator: anInitiator(),
        }),
    ],
  ])('the last one leaves the target closed if a service %s on the source', async (_, work) => {
    const [from, to] = [await remote(), at('b.db')];
    const { active } = await fill(from);
    const service = await driverOf(from).open(from, {
      clock: Date.now,
      claim: { evenIfCopied: false },
    });
    onTestFinished(() => service.close());
    const copying = copyWith([from, to], true, {
      target: (target) => ({
        async write(...args) {
          // The page was read before.
          if (args[0].name === 'grants') await work(service, active.grant);
          return target.write(...args);
        },
      }),
    });
    await expect(copying).rejects.toThrow('A service works on');
    await expect(claim(to)).rejects.toThrow('and not the last one');
    await copied(from, to, '--last');
    await claim(to);
  });

  test('knows a source whose host is spelled in another way', async () => {
    const [from, to] = [await remote(), at('b.db')];
    await fill(from);
    await copied(from, to);
    const spelled = from.replace('127.0.0.1', 'localhost');
    expect(spelled).not.toBe(from);
    expect(await copied(spelled, to)).toMatchObject(nothing);
    await copied(spelled, to, '--last');
    expect(await copied(from, to, '--last')).toMatchObject(nothing);
  });

  test('a service that was not stopped ends, though it has nothing to do', slow, async () => {
    const [from, to] = [await remote(), at('b.db')];
    await fill(from);
    const idle = start(['serve'], { DATABASE_URL: from, PORT: '0' });
    await idle.printed(/listens on/);
    // While the service still looks for a demo, as at every start, the copy says that a service works.
    await vi.waitFor(() => copied(from, to, '--last'), { timeout: 60_000 });
    const { code, stderr } = await idle.ended;
    expect({ code, stderr }).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(
        /^The database \S+ was copied to .*: set DATABASE_URL to that/m,
      ),
    });
    await claim(to);
  });

  test('leaves the grants of an erasure that has not come to them refused, and lets it go on', async () => {
    const [from, to] = [await remote(), at('b.db')];
    const { account, active, used, grants } = await fill(from);
    const erasure = { account_id: account.id, now: Date.now(), initiator: anInitiator() };
    await on(from, (store) => store.markErasure(erasure));
    await copied(from, to);
    await on(to, async (store) => {
      for (const { grant } of [active, used]) {
        const found = await store.authenticateGrant(grant.grant_id, { currentAccount: false });
        expect(found).toMatchObject({ grant: { revoked_at: erasure.now } });
      }
      await finishAll(store);
      const listed = await store.listGrants({ account_id: account.id }, page);
      expect(listed).toHaveLength(grants.length);
      for (const grant of listed) expect(grant.account).toMatchObject(ERASED);
    });
  });
}

const urlOf = async (fresh: Promise<TestDatabase>) => {
  const database = await fresh;
  onTestFinished(() => database.remove());
  return database.url;
};

describeOnMongodb('copy', (server) => {
  const mongodb = () => urlOf(mongoDatabase(server));
  describeOnServer(mongodb);

  test('a page and the look at the mark are one transaction', async () => {
    const [from, to] = [at('a.db'), await mongodb()];
    await fill(from);
    const { updateOne } = Collection.prototype;
    const look = vi.spyOn(Collection.prototype, 'updateOne').mockImplementation(async function (
      this: Collection,
      ...args
    ) {
      if ('writes' in ((args[1] as { $inc?: object }).$inc ?? {})) await claim(to, true);
      return updateOne.apply(this, args);
    });
    onTestFinished(() => look.mockRestore());
    await expect(copyWith([from, to], false, {})).rejects.toThrow('This copy has stopped');
    expect(await on(to, (store) => store.listScopes())).toEqual([]);
  });
});

describeOnPostgresql('copy', (server) => {
  const postgresql = () => urlOf(postgresqlDatabase(server));
  describeOnServer(postgresql);

  describeOnMongodb('with another server,', (other) => {
    const mongodb = () => urlOf(mongoDatabase(other));

    test('to PostgreSQL and back, nothing is lost or changed', async () => {
      const [first, middle, last] = [await mongodb(), await postgresql(), await mongodb()];
      const filled = await fill(first);
      await copied(first, middle, '--last');
      expect(await contents(middle, filled)).toEqual(await contents(first, filled));
      await claim(middle);
      await copied(middle, last);
      expect(await contents(last, filled)).toEqual(await contents(first, filled));
    });
  });
});

test('a failure is told even if an upgrade has replaced the files of the program meanwhile', async () => {
  const hooks = `
    import { registerHooks } from 'node:module';
    let isReplaced = false;
    registerHooks({
      load(url, context, next) {
        isReplaced ||= url.endsWith('/copy-database.ts');
        if (isReplaced && url.endsWith('/tell-failure.ts')) throw new Error('replaced');
        return next(url, context);
      },
    });`;
  const failing = start(['copy', '--from', at('none.db'), '--to', at('b.db')], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
  });
  const { code, stderr } = await failing.ended;
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no database at [^\n]+\n$/),
  });
});
