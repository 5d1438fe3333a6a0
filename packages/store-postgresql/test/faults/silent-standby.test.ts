import type { Store } from '@latchkey/store/store';
import { everyOperation } from '@latchkey/store-suite/every-operation';
import { fillWithGrants } from '@latchkey/store-suite/many-grants';
import {
  aCode,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  granted,
  issued,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { slow } from '@latchkey/test-kit/long';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { PostgresqlServer } from '@latchkey/test-kit/postgresql/server';
import { createDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';
import { openPostgresqlTarget } from '../../src/transfer.ts';

const impatient = { connect: 30_000, operation: 300, outcome: 300 };
const revocation = (grant_id: string) => ({
  ...{ grant_id, application_id: null, now: Date.now(), initiator: anInitiator() },
});

/** They may miss the latest changes, or a failover may lose what they change. */
const MAY_ANSWER = [
  ...['addToCount', 'countActiveGrants', 'countEvents', 'countPendingCodes', 'doStep log'],
  ...['findFirstRefusal', 'findLiveCount', 'findRefusals', 'listAccounts', 'listApplications'],
  ...['listCodes', 'listCommandChanges', 'listCounts', 'listDeliveries', 'listDueEndpoints'],
  ...['listKeptDocuments', 'listScopeNames', 'listScopes', 'listWork', 'makeDeliveries'],
  ...['measure', 'newestGrantTime'],
];
const mayBeStale = (input: readonly unknown[]) =>
  input.some((one) => one instanceof Object && 'mayBeStale' in one && one.mayBeStale);

describeWithPostgresql('a synchronous standby that is silent', (programs) => {
  let server: PostgresqlServer;
  let url: string;
  let store: Store;
  beforeAll(async () => {
    server = await PostgresqlServer.start(programs);
  });
  afterAll(() => server?.stop());

  beforeEach(async () => {
    url = await createDatabase(server.url);
    // What a database has set must not weaken a commit, or hide that its wait was cancelled.
    const name = new URL(url).pathname.slice(1);
    await server.query(`ALTER DATABASE "${name}" SET synchronous_commit = off`);
    await server.query(`ALTER DATABASE "${name}" SET client_min_messages = error`);
    // On a busy machine, the schema takes longer than the impatient wait.
    await (await openPostgresqlStore({ url, clock: Date.now })).close();
    store = await openPostgresqlStore({ url, clock: Date.now, timeouts: impatient });
    return async () => {
      await loud();
      await store.close();
    };
  });

  const waitFor = async (names: string) => {
    await server.configure({ synchronous_standby_names: names });
    await vi.waitFor(async () =>
      expect(await server.query('SHOW synchronous_standby_names')).toEqual([
        { synchronous_standby_names: names },
      ]),
    );
  };
  const silent = () => waitFor('nobody');
  const loud = () => waitFor('');

  /** The code of each error, or what was returned. */
  const outcomes = async (calls: readonly (() => Promise<unknown>)[]) => {
    const settled = await Promise.allSettled(calls.map((call) => call()));
    return settled.map((one) => (one.status === 'rejected' ? one.reason.code : one));
  };

  test('holds back every answer that decides something, also that there is none', async () => {
    const [{ grant }, code] = [await granted(store), await issued(store)];
    const application = anApplication();
    await store.createApplication(application);
    const none = anId();
    await silent();

    const reads = [grant.grant_id, none].flatMap((id) => [
      () => store.authenticateGrant(id, { currentAccount: false }),
      () => store.authenticateGrant(id, { currentAccount: true }),
      () => store.findCode(id),
    ]);
    expect(await outcomes(reads)).toEqual(reads.map(() => 'store_unavailable'));
    const writes = [
      () => store.redeemCode(redemptionOf(code)),
      () => store.redeemCode(redemptionOf(aCode())),
      () => store.redeemCode(redemptionOf({ ...code, grant_id: grant.grant_id })),
      () => store.revokeGrant(revocation(grant.grant_id)),
      () => store.revokeGrant(revocation(none)),
      () => store.issueCode(newCode(aCode())),
      () => store.putAccount(anAccount()),
      () => store.findApplication(application.id),
    ];
    for (const outcome of await outcomes(writes)) {
      expect(outcome).toMatch(/^(outcome_unknown|store_unavailable)$/);
    }

    await loud();
    // What was sent is made once, or not at all.
    const redeemed = await store.authenticateGrant(code.grant_id, { currentAccount: false });
    const again = await store.redeemCode(redemptionOf(code));
    expect(again === null).toBe(redeemed !== null);
  });

  test('holds back each operation but those that decide nothing', slow, async () => {
    const calls: { operation: string; input: unknown[] }[] = [];
    const noting = new Proxy(store, {
      get(target, operation: keyof Store & string) {
        const value = target[operation];
        if (typeof value !== 'function') return value;
        return (...input: unknown[]) => {
          calls.push({ operation, input });
          return (value as (...input: unknown[]) => unknown).apply(target, input);
        };
      },
    });
    const { application, account } = await fillWithGrants(await openPostgresqlTarget(url), 4);
    await everyOperation(noting, { application_id: application.id, account, before: anId() });
    await silent();
    const answered = new Set<string>();
    for (let next = 0; next < calls.length; next += 10) {
      const some = calls.slice(next, next + 10).filter(({ input }) => !mayBeStale(input));
      const found = await outcomes(
        some.map(
          ({ operation, input }) =>
            async () =>
              await (store[operation as keyof Store] as (...input: unknown[]) => unknown)(...input),
        ),
      );
      for (const [index, { operation, input }] of some.entries()) {
        const step = operation === 'doStep' ? ` ${input[1]}` : '';
        if (typeof found[index] !== 'string') answered.add(operation + step);
      }
    }
    expect([...answered].toSorted()).toEqual(MAY_ANSWER);
  });

  test('acknowledges nothing if somebody cancels the wait for it', async () => {
    const [{ grant }, code] = [await granted(store), await issued(store)];
    const patient = await openPostgresqlStore({
      ...{ url, clock: Date.now, timeouts: { ...impatient, operation: 30_000 } },
    });
    const holder = await new Client({ connectionString: url }).connect();
    await holder.query('BEGIN; SELECT FROM grants FOR UPDATE');
    const found = outcomes([
      () => patient.redeemCode(redemptionOf(code)),
      () => patient.revokeGrant(revocation(grant.grant_id)),
    ]);
    await vi.waitFor(async () => expect(await waiting('Lock')).toHaveLength(2));
    await silent();
    const read = outcomes([() => patient.findCode(code.grant_id)]);
    await holder.query('ROLLBACK');
    await holder.end();
    await vi.waitFor(async () => expect(await waiting('IPC')).toHaveLength(3));
    const cancelling = setInterval(cancelWaits, 20);
    expect([await found, await read]).toEqual([
      ['outcome_unknown', 'outcome_unknown'],
      ['store_unavailable'],
    ]);
    clearInterval(cancelling);
    await patient.close();
  });

  const waiting = (type: string) =>
    server.query('SELECT FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = $2', [
      new URL(url).pathname.slice(1),
      type,
    ]);
  const cancelWaits = () =>
    server.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
});
