import type { Store } from '@latchkey/store/store';
import { fillWithGrants } from '@latchkey/store-suite/many-grants';
import {
  aCode,
  aLink,
  anAccount,
  anInitiator,
  atOnce,
  granted,
  issued,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { slow } from '@latchkey/test-kit/long';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Database } from '../src/database.ts';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { openPostgresqlTarget } from '../src/transfer.ts';
import { waiting } from './postgresql-harness.ts';

describeOnPostgresql('calls', (server) => {
  let url: string;
  let store: Store;
  let other: Client;

  beforeEach(async () => {
    url = await createDatabase(server);
    store = await openPostgresqlStore({ url, clock: Date.now });
    other = new Client(url);
    await other.connect();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await other.end();
    await store.close();
    await dropDatabase(url);
  });

  test('of one tick share a statement for each of their steps', async () => {
    const codes = await atOnce(40, () => issued(store));
    const ids = codes.map(({ grant_id }) => grant_id);
    const send = vi.spyOn(Database.prototype, 'send');
    const grants = await Promise.all(codes.map((code) => store.redeemCode(redemptionOf(code))));
    expect(grants.map((grant) => grant?.grant_id)).toEqual(ids);
    expect(send).toHaveBeenCalledTimes(2);
    send.mockClear();
    const revoked = await Promise.all(codes.map((code) => store.revokeGrant(revocationOf(code))));
    expect(revoked.map((grant) => grant?.grant_id)).toEqual(ids);
    expect(send).toHaveBeenCalledTimes(2);
  });

  test('that share a statement fail one by one', async () => {
    const [first, taken, last] = [aLink(), aLink(), aLink()];
    await store.createLink({ ...taken, initiator: anInitiator() });
    const created = await Promise.allSettled(
      [first, taken, last].map((link) => store.createLink({ ...link, initiator: anInitiator() })),
    );
    expect(created.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(created[1]).toMatchObject({ reason: { code: 'store_unavailable' } });
    expect(await Promise.all([first, last].map(({ id }) => store.findLink(id)))).toMatchObject([
      { id: first.id },
      { id: last.id },
    ]);
  });

  test('issue no code for an account that is being erased', async () => {
    const account = anAccount();
    await store.putAccount(account);
    await other.query('BEGIN');
    await other.query('UPDATE accounts SET account = NULL WHERE id = $1', [account.id]);
    const issuing = store.issueCode(newCode(aCode({ account })));
    await waiting(url, 1);
    await other.query('COMMIT');
    expect(await issuing).toBeNull();
  });

  test('that decide about a record see who was faster', async () => {
    const account = anAccount();
    await store.putAccount(account);
    await other.query('BEGIN');
    await other.query('UPDATE accounts SET revision = 7 WHERE id = $1', [account.id]);
    const putting = store.putAccount({ ...account, display_name: 'Ada' });
    await waiting(url, 1);
    await other.query('COMMIT');
    await putting;
    const { rows } = await other.query('SELECT revision FROM accounts WHERE id = $1', [account.id]);
    expect(rows).toEqual([{ revision: '8' }]);
  });

  test(
    'that share a statement with one whose record stays locked are made, and leave nothing locked',
    slow,
    async () => {
      const [first, stuck, last] = await atOnce(3, () => granted(store));
      const account = anAccount();
      await store.putAccount(account);
      await other.query('BEGIN');
      await other.query('SELECT FROM grants WHERE id = $1 FOR UPDATE', [stuck?.grant.grant_id]);
      await other.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [account.id]);
      const settled = await Promise.allSettled([
        ...[first, stuck, last].map((one) =>
          store.revokeGrant(revocationOf(one?.grant as Granted)),
        ),
        store.issueCode(newCode(aCode({ account }))),
      ]);
      const outcomes = settled.map((one) => (one.status === 'rejected' ? one.reason.code : 'made'));
      expect(outcomes).toEqual(['made', 'store_unavailable', 'made', 'store_unavailable']);
      await waiting(url, 0);
    },
  );

  test('that note a use change no index, also in a table that is full', async () => {
    await fillWithGrants(await openPostgresqlTarget(url), 400);
    const { rows } = await other.query(
      'SELECT id, secret_hash FROM grants WHERE revoked_at IS NULL ORDER BY id',
    );
    const some = rows.filter((_, index) => index % 30 === 0);
    for (const { id: grant_id, secret_hash } of some) {
      await store.noteUse({ grant_id, secret_hash, now: Date.now(), initiator: anInitiator() });
    }
    // Each backend tells at its end what it has counted.
    await store.close();
    await expect
      .poll(async () => (await other.query(UPDATES)).rows)
      .toEqual([{ all: `${some.length}`, hot: `${some.length}` }]);
  });

  test('of many find none only if there is none', async () => {
    const { grant } = await granted(store);
    await store.revokeGrant(revocationOf(grant));
    const reducing = await openPostgresqlStore({ url, clock: Date.now, revokedGrantDays: 0 });
    const reduction = reducing.housekeeping.find(({ name }) => name === 'reduction');
    await other.query('BEGIN');
    await other.query('SELECT FROM grants FOR UPDATE');
    const step = reduction?.step(Date.now(), 9);
    await waiting(url, 1);
    await other.query('ROLLBACK');
    expect(await step).toBe(true);
    expect(await reduction?.step(Date.now(), 9)).toBe(false);
    await reducing.close();
  });
});

const UPDATES = `SELECT n_tup_upd AS "all", n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relname = 'grants'`;

type Granted = Parameters<typeof revocationOf>[0];
const revocationOf = ({ grant_id }: { grant_id: string }) => ({
  ...{ grant_id, application_id: null, now: Date.now() - 1, initiator: anInitiator() },
});
