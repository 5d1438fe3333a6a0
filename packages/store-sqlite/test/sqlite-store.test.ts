import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { newId } from '@latchkey/domain/credentials/credentials';
import { inRequest, REQUEST_DEADLINE } from '@latchkey/domain/request-scope';
import { copyDatabase } from '@latchkey/store/copy-database';
import type { ByHand } from '@latchkey/store/operations/by-hand';
import { operations } from '@latchkey/store/operations/operations';
import type { Erasure, Store } from '@latchkey/store/store';
import type { Transfer } from '@latchkey/store/transfer';
import { testStore } from '@latchkey/store-suite';
import { describeFields } from '@latchkey/store-suite/fields';
import { erase, finish, finishAll, sweep } from '@latchkey/store-suite/finish';
import { fillWithGrants } from '@latchkey/store-suite/many-grants';
import {
  aCode,
  aConsentPage,
  aHash,
  aLink,
  anAccount,
  anApplication,
  anEndpoint,
  anInitiator,
  aPing,
  approvalOf,
  atOnce,
  granted,
  grantOf,
  identificationOf,
  issued,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { alone, type Queues, sqliteAdapter } from '../src/adapter.ts';
import { backUp } from '../src/backup.ts';
import { nodeSqlite } from '../src/node-sqlite.ts';
import { stageBackup } from '../src/restore.ts';
import { openSqliteStore } from '../src/sqlite-store.ts';
import { openSqliteSource, openSqliteTarget } from '../src/transfer.ts';
import { type SqliteTestDatabase, sqliteHarness } from './sqlite-harness.ts';

testStore('SQLite', sqliteHarness);

describeFields(async () => {
  const { path, remove } = await sqliteHarness.fresh();
  return { target: await openSqliteTarget(path), remove };
});

describe('the SQLite store', () => {
  let database: SqliteTestDatabase;
  let store: Store;

  beforeEach(async () => {
    database = await sqliteHarness.fresh();
    store = await database.open();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await store.close();
    await database.remove();
  });

  /** How many transactions the write-ahead log has: https://sqlite.org/fileformat2.html#walformat. */
  function commitsInLog(): number {
    const log = readFileSync(`${database.path}-wal`);
    const frame = 24 + log.readUInt32BE(8);
    let commits = 0;
    for (let at = 32; at + frame <= log.length; at += frame) {
      // The size of the database after the commit; zero in all but the last frame of a transaction.
      if (log.readUInt32BE(at + 4) > 0) commits++;
    }
    return commits;
  }

  test('begins no read of a request that has no time left', async () => {
    const account = anAccount();
    await store.putAccount(account);
    vi.useFakeTimers({ toFake: ['performance'] });
    const reading = inRequest(() => {
      vi.advanceTimersByTime(REQUEST_DEADLINE);
      return store.findAccount(account.id);
    });
    await expect(reading).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.findAccount(account.id)).toEqual(account);
  });

  test('commits the writes of one turn in one transaction', async () => {
    const before = commitsInLog();
    await atOnce(50, () => store.putAccount(anAccount()));
    expect(commitsInLog()).toBe(before + 1);

    // Writes in different turns have a transaction each.
    for (let write = 0; write < 3; write++) await store.putAccount(anAccount());
    expect(commitsInLog()).toBe(before + 4);
  });

  /** Erases on a connection of its own. */
  async function eraseInSteps(
    erasure: Erasure,
    before: (step: number) => Promise<unknown>,
  ): Promise<number> {
    const connection = new (nodeSqlite().DatabaseSync)(database.path);
    let steps = 0;
    const queues: Queues = {
      ...alone,
      async write(attempt, _options, ...input) {
        await before(steps);
        steps += 1;
        return attempt(...input);
      },
    };
    const byHand = { emptyLog: async () => true } as Partial<ByHand> as ByHand;
    const own = operations(sqliteAdapter(connection, queues), Date.now, byHand);
    try {
      return await erase(own, erasure);
    } finally {
      connection.close();
    }
  }

  /** As if its process was killed then. False if it has ended before. */
  async function isCut(erasure: Erasure, steps: number): Promise<boolean> {
    const killed = new Error('killed');
    const outcome = await eraseInSteps(erasure, async (step) => {
      if (step === steps) throw killed;
    }).catch((error) => error);
    if (typeof outcome !== 'number') expect(outcome).toBe(killed);
    return outcome === killed;
  }

  test('refuses what an interrupted erasure has not reached, and goes on with it', async () => {
    const { account } = await fillWithGrants(await database.openTarget(), 600);
    const account_id = account.id;
    const range = { limit: 600, before: null };
    const listed = () => store.listGrants({ account_id }, range);
    const names = async () => (await listed()).map((grant) => grant.account.username);
    const ends = async () =>
      new Set(
        (await listed()).flatMap(({ created_at, revoked_at }) =>
          // Those that had ended before did so at once.
          revoked_at === created_at ? [] : revoked_at,
        ),
      );

    // The mark, the messages in three steps, and a part of 450; then more of them.
    for (const [now, steps] of [
      [7, 5],
      [8, 7],
    ] as const) {
      expect(await isCut({ account_id, now, initiator: anInitiator() }, steps)).toBe(true);
      expect(await ends()).toEqual(new Set([7]));
      expect(new Set(await names())).toEqual(new Set(['erased']));
      for (const { grant_id } of await listed()) {
        const found = await store.authenticateGrant(grant_id, { currentAccount: false });
        expect(found).toMatchObject({ secret_hash: null, account: { username: 'erased' } });
      }
    }

    const left = await erase(store, { account_id, now: 9, initiator: anInitiator() });
    expect(left).toBe(450 - 4 * 100);
    expect(await ends()).toEqual(new Set([7]));
  });

  test.each(['copy', 'backup'])('a %s has the marks, and goes on with their work', async (way) => {
    const [erased, account] = [anAccount({ username: 'Ada' }), anAccount()];
    const application = anApplication();
    await store.createApplication(application);
    const ofErased = await granted(store, { account: erased, application_id: application.id });
    const ofAccount = await granted(store, { account, application_id: application.id });
    const initiator = anInitiator();
    await store.markErasure({ account_id: erased.id, now: 7, initiator });
    await store.markRevocation({ application_id: application.id, now: 8, initiator });
    const later = { account, application_id: application.id, application_revocations: 1 };
    const alive = await granted(store, later);

    const target = await sqliteHarness.fresh();
    if (way === 'copy') {
      await (await database.open({ claim: { evenIfCopied: false } })).close();
      const [source, to] = [await openSqliteSource(database.path), await target.openTarget()];
      await copyDatabase(source, to as Transfer, { last: false });
      await Promise.all([source.close(), to.close()]);
    } else {
      const file = `${target.path}.backup`;
      await backUp(database.path, file);
      await (await stageBackup(file, target.path)).putInPlace();
    }
    const there = await target.open();
    for (const isFinished of [false, true]) {
      if (isFinished) await finishAll(there);
      for (const [{ grant }, revoked_at] of [
        [ofErased, 7],
        [ofAccount, 8],
        [alive, null],
      ] as const) {
        const found = await there.authenticateGrant(grant.grant_id, { currentAccount: false });
        expect(found?.grant.revoked_at).toBe(revoked_at);
        expect(found?.account?.username).not.toBe('Ada');
      }
      expect((await there.listWork(9)).length).toBe(isFinished ? 0 : 2);
    }
    await there.close();
    await target.remove();
  });

  test('ends an interrupted erasure, wherever it was cut, before the account is put again', async () => {
    let steps = 1;
    for (let isOver = false; !isOver; steps++) {
      const { grant } = await granted(store);
      const { account } = grant;
      const [approved, open] = [aLink(), aLink()];
      for (const link of [approved, open]) {
        await store.createLink({ ...link, initiator: anInitiator() });
      }
      const code = await issued(store, { account, link_id: approved.id });
      const page = aConsentPage(open, { account_id: account.id });
      await store.identifyLink(identificationOf(open, page));
      const erasure = { account_id: account.id, now: 7, initiator: anInitiator() };
      isOver = !(await isCut(erasure, steps));

      expect(await store.findAccount(account.id)).toBeNull();
      await store.putAccount(account);
      expect(await store.findAccount(account.id)).toEqual(account);
      const found = await store.authenticateGrant(grant.grant_id, { currentAccount: true });
      expect(found).toMatchObject({ secret_hash: null, grant: { revoked_at: 7 } });
      const range = { limit: 9, before: null };
      const [left, ...others] = await store.listGrants({ account_id: account.id }, range);
      expect(left?.account.username).toBe('erased');
      expect(others).toEqual([]);
      expect(await store.redeemCode(redemptionOf(code))).toBeNull();
      for (const { id } of [approved, open]) expect(await store.findLink(id)).toBeNull();
      expect(await store.findPage(page.id)).toBeNull();
    }
    expect(steps).toBeGreaterThan(8);
  });

  test('keeps an erasure unfinished while its log is read, though the account is put again', async () => {
    const [one, two] = ['a name that is to be erased', 'another one'];
    const { id: account_id } = anAccount();
    const erasure = { account_id, now: 7, initiator: anInitiator() };
    const put = (username: string) => store.putAccount(anAccount({ id: account_id, username }));
    const isInFiles = (name: string) =>
      ['', '-wal'].some((suffix) => readFileSync(database.path + suffix).includes(name));
    await put(one);
    const replicator = new (nodeSqlite().DatabaseSync)(database.path);
    replicator.exec('PRAGMA wal_autocheckpoint = 0; CREATE TABLE _replicator (number INTEGER)');
    const read = 'BEGIN; SELECT count(*) FROM _replicator';
    replicator.exec(read);

    const first = await store.markErasure(erasure);
    expect(await store.doStep(first, 'log', 9)).toMatchObject({ isHeld: true });
    await put(two);
    expect(await store.listWork(9)).toEqual([first]);
    // It begins the log anew, which has nothing of the second erasure yet.
    replicator.exec('COMMIT; PRAGMA wal_checkpoint; INSERT INTO _replicator VALUES (1)');
    replicator.exec(read);
    const second = await store.markErasure(erasure);
    expect(await store.doStep(second, 'log', 9)).toMatchObject({ isHeld: true });
    expect(await store.listWork(9)).toEqual([first, second]);

    replicator.exec('COMMIT');
    await finishAll(store);
    for (const name of [one, two]) expect(isInFiles(name)).toBe(false);
    expect(await store.listWork(9)).toEqual([]);
    replicator.close();
  });

  test('tells of what a step has revoked before it fails', async () => {
    const application = anApplication();
    await store.createApplication(application);
    const ofIt = { application_id: application.id };
    const { grant: first } = await granted(store, ofIt);
    const { grant: second } = await granted(store, ofIt);
    const initiator = anInitiator();
    // Two marks end them, so they are two writes.
    await store.markRevocation({ account_id: first.account.id, now: 5, initiator });
    const work = await store.markRevocation({ ...ofIt, now: 7, initiator });
    if (work === null) throw new Error('There is something to end.');
    const disk = new (nodeSqlite().DatabaseSync)(database.path);
    disk.exec(
      "CREATE TRIGGER full BEFORE UPDATE ON grants WHEN NEW.revoked_at = 7 BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    const done = await store.doStep(work, 'grants', 9);
    expect(done.isOver).toBe(false);
    expect(done.revoked.map(({ grant_id }) => grant_id)).toEqual([first.grant_id]);
    await expect(store.doStep(work, 'grants', 9)).rejects.toThrow('full');
    disk.exec('DROP TRIGGER full');
    disk.close();
    const { revoked } = await finish(store, work);
    expect(revoked.map(({ grant_id }) => grant_id)).toEqual([second.grant_id]);
  });

  test('leaves nothing of a code that is redeemed at any step of an erasure', async () => {
    let steps = 0;
    for (let last = 1; steps <= last; steps++) {
      const account = anAccount();
      const link = aLink();
      await store.createLink({ ...link, initiator: anInitiator() });
      const code = await issued(store, { account, link_id: link.id });
      let redeemed: unknown = null;
      const erasure = { account_id: account.id, now: 7, initiator: anInitiator() };
      const revoked = await eraseInSteps(erasure, async (step) => {
        last = step;
        if (step !== steps) return;
        await store.decideLink(approvalOf(link, account.id));
        redeemed = await store.redeemCode(redemptionOf(code));
      });
      expect(revoked).toBe(redeemed === null ? 0 : 1);
      const left = await store.listGrants({ account_id: account.id }, { limit: 9, before: null });
      expect(left.map((grant) => [grant.revoked_at, grant.account.username])).toEqual(
        redeemed === null ? [] : [[7, 'erased']],
      );
      expect(await store.findLink(link.id)).toBeNull();
    }
    expect(steps).toBeGreaterThan(4);
  });

  test('spares an account that was put again while its erasure goes on', async () => {
    const { grant } = await granted(store);
    const { account } = grant;
    const own = await database.open({ recordsEvents: true });
    const endpoint = anEndpoint({ types: ['account.updated'] });
    await own.createEndpoint(endpoint, { most: 9 });
    const again = { code: await issued(store, { account }), link: aLink() };
    const erasure = { account_id: account.id, now: 7, initiator: anInitiator() };
    const revoked = await eraseInSteps(erasure, async (step) => {
      // Just after the tombstone.
      if (step !== 1) return;
      await store.putAccount(account);
      await own.putAccount({ ...account, display_name: 'Again' });
      await own.makeDeliveries(Date.now());
      again.code = (await granted(store, { account })).code;
      await store.createLink({ ...again.link, initiator: anInitiator() });
      const page = aConsentPage(again.link, { account_id: account.id });
      await store.identifyLink(identificationOf(again.link, page));
    });
    // The put has completed it.
    expect(revoked).toBe(0);
    const { grant_id } = again.code;
    const found = await store.authenticateGrant(grant_id, { currentAccount: false });
    expect(found).toMatchObject({ grant: { revoked_at: null }, account });
    expect(await store.findLink(again.link.id)).not.toBeNull();
    const range = { limit: 9, before: null };
    const told = await own.listDeliveries({ endpoint_id: endpoint.id }, range);
    expect(told.map(({ status, body }) => [status, body === null])).toEqual([['pending', false]]);
    await own.close();
  });

  test('fails only the failing write of a transaction', async () => {
    const taken = await issued(store);
    const codes = Array.from({ length: 9 }, () => aCode());
    codes.splice(4, 0, { ...taken, scope: 'another' });
    await Promise.all(codes.map(({ account }) => store.putAccount(account)));
    const before = commitsInLog();
    const results = await Promise.allSettled(codes.map((code) => store.issueCode(newCode(code))));
    expect(commitsInLog()).toBe(before + 1);

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
    // An error of our own SQL, not of the environment, is passed on as it is.
    expect(results[4]).toMatchObject({
      reason: { name: 'Error', message: expect.stringContaining('UNIQUE') },
    });
    for (const code of codes) expect(await store.findCode(code.grant_id)).not.toBeNull();
    expect(await store.cancelCode(taken.grant_id)).toEqual(taken);
  });

  test('does not write to the disk for a refused redemption', async () => {
    const { code } = await granted(store);
    const before = commitsInLog();
    await store.redeemCode(redemptionOf(code));
    await store.redeemCode(redemptionOf(aCode()));
    expect(commitsInLog()).toBe(before);
  });

  test('keeps no hash of the secret of a revoked grant', async () => {
    const { grant, secret_hash } = await granted(store);
    await store.revokeGrant({ ...grant, now: Date.now(), initiator: anInitiator() });
    const probe = new (nodeSqlite().DatabaseSync)(database.path);
    const row = probe.prepare('SELECT count(*) AS found FROM grants WHERE secret_hash = ?');
    expect(row.get(secret_hash)).toEqual({ found: 0 });
    probe.close();
  });

  test('an erasure that goes on after the next one leaves that all names', async () => {
    const account = anAccount();
    const account_id = account.id;
    const now = Date.now();
    const linkedAt = async (time: number) => {
      const code = aCode({ account, grant_id: newId(time) });
      await store.issueCode(newCode(code));
      await store.redeemCode(redemptionOf(code));
    };
    await store.putAccount({ ...account, username: 'Ada' });
    // By the clock of another process.
    await linkedAt(now + 5_000);
    const first = await store.markErasure({ account_id, now, initiator: anInitiator() });
    await store.putAccount({ ...account, username: 'Ada again' });
    await linkedAt(now);
    await store.markErasure({ account_id, now: now + 1, initiator: anInitiator() });
    await finish(store, first);
    await finishAll(store);
    const file = new (nodeSqlite().DatabaseSync)(database.path, { readOnly: true });
    const accounts = file.prepare('SELECT account FROM grants').all();
    file.close();
    expect(accounts).toHaveLength(2);
    expect(JSON.stringify(accounts)).not.toContain('Ada');
  });

  test('sweeps in batches, and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const now = Date.now();
    const swept = await openSqliteStore({ path: database.path, clock: () => now });
    const code_expires_at = now + 1_000;
    const codes = await atOnce(2_500, () => issued(swept, { code_expires_at }));
    const left = async () =>
      (await atOnce(codes.length, (i) => swept.findCode(codes[i]?.grant_id ?? ''))).filter(Boolean)
        .length;

    await sweep(swept, now);
    expect(await left()).toBe(2_500);
    await sweep(swept, code_expires_at);
    expect(await left()).toBe(0);

    await swept.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  describe('what is pending for an endpoint that is disabled or deleted', () => {
    const endpoint = anEndpoint();
    beforeEach(async () => {
      await store.createEndpoint(endpoint, { most: 1 });
      await atOnce(1_000, () => store.createPing(aPing({ endpoint_id: endpoint.id })));
    });
    const pending = () =>
      store.listDeliveries(
        { endpoint_id: endpoint.id, status: 'pending' },
        { limit: 1_000, before: null },
      );
    /** As a process leaves it that is killed before it has dropped anything. */
    const killedAfter = (change: string) => {
      const killed = new (nodeSqlite().DatabaseSync)(database.path);
      killed.exec(change);
      killed.close();
    };

    test('is dropped in parts, and requests run in between', async () => {
      let isDropped = false;
      const disabling = store.updateEndpoint(endpoint.id, { disabled_reason: 'operator' });
      const dropping = disabling.then(() => {
        isDropped = true;
      });
      let requests = 0;
      while (!isDropped) {
        await store.putAccount(anAccount());
        requests++;
      }
      await dropping;
      expect(requests).toBeGreaterThan(3);
      expect(await pending()).toEqual([]);
    });

    test('is not told once it is enabled, though the process was killed in between', async () => {
      killedAfter("UPDATE endpoints SET disabled_reason = 'operator', generation = generation + 1");
      expect(await pending()).toHaveLength(1_000);
      await store.updateEndpoint(endpoint.id, { disabled_reason: null });
      expect(await pending()).toEqual([]);
    });

    test('is not claimed once it is enabled, though nothing has dropped it', async () => {
      killedAfter('UPDATE endpoints SET generation = generation + 1');
      const due = { now: Date.now() + 120_000, claim: 'late' };
      const endpoints = [{ id: endpoint.id, most: 9 }];
      expect(await store.claimDeliveries({ ...due, endpoints })).toEqual([]);
      expect(await pending()).toHaveLength(991);
    });

    test('is dropped by a sweep, if the process was killed in between', async () => {
      killedAfter('DELETE FROM endpoints');
      await sweep(store, Date.now());
      expect(await pending()).toEqual([]);
    });
  });

  test('does not keep a process alive that forgot to close it', () => {
    const module = JSON.stringify(new URL('../src/sqlite-store.ts', import.meta.url).href);
    const path = JSON.stringify(database.path);
    const script = `import(${module}).then((m) => m.openSqliteStore({ path: ${path}, clock: Date.now }))`;
    const { status } = spawnSync(process.execPath, ['-e', script], { timeout: 20_000 });
    expect(status).toBe(0);
  });

  test('finds lists and expired records by an index', async () => {
    const probe = new (nodeSqlite().DatabaseSync)(database.path);
    const plan = (sql: string) =>
      probe
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
        .join('; ');
    const list = (column: string) =>
      plan(`SELECT scope FROM grants WHERE ${column} = ? AND created_at IS NOT NULL AND account_id IS NOT NULL
        AND id < ? ORDER BY id DESC LIMIT 9`);
    expect(list('account_id')).toBe(
      'SEARCH grants USING INDEX grants_by_account (account_id=? AND id<?)',
    );
    expect(list('application_id')).toBe(
      'SEARCH grants USING INDEX grants_by_application (application_id=? AND id<?)',
    );
    expect(plan('SELECT id FROM grants WHERE code_expires_at <= ? LIMIT 9')).toBe(
      'SEARCH grants USING INDEX grants_by_expiry (code_expires_at<?)',
    );
    expect(plan('SELECT id FROM refusals WHERE expires_at <= ? LIMIT 9')).toBe(
      'SEARCH refusals USING COVERING INDEX refusals_by_expiry (expires_at<?)',
    );
    probe.close();
  });

  test('in memory keeps the promises within one process, and nothing after', async () => {
    const memory = await openSqliteStore({ path: ':memory:', clock: Date.now });
    const account = anAccount();
    await memory.putAccount(account);
    const code = await issued(memory, { account });
    const redemptions = Array.from({ length: 64 }, () => redemptionOf(code));
    const grants = await Promise.all(redemptions.map((one) => memory.redeemCode(one)));
    const [grant, ...others] = grants.filter((one) => one !== null);
    expect(others).toEqual([]);
    const range = { limit: 9, before: null };
    expect(await memory.listGrants({ account_id: account.id }, range)).toEqual([grant]);
    const recovery = { ...code, secret_hash: aHash(), redeemed_after: 0, now: 0 };
    expect(await memory.recoverGrant({ ...recovery, initiator: anInitiator() })).toEqual(grant);
    await memory.close();

    const next = await openSqliteStore({ path: ':memory:', clock: Date.now });
    expect(await grantOf(next, code.grant_id)).toBeNull();
    await next.close();
  });
});
