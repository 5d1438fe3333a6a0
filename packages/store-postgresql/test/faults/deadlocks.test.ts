import type { Store } from '@latchkey/store/store';
import { anInitiator, issued, redemptionOf } from '@latchkey/store-suite/records';
import { describeOnEachPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';

const RECORDS = 200;
const ROUNDS = 10;

describeOnEachPostgresql('two stores that batch the same records in other orders', (server) => {
  test('never wait for each other, and each code has one winner', async () => {
    const url = await createDatabase(server);
    onTestFinished(() => dropDatabase(url));
    const open = () => openPostgresqlStore({ url, clock: Date.now });
    const [one, other] = [await open(), await open()];
    const revoke = (store: Store, grant_id: string) =>
      store.revokeGrant({
        ...{ grant_id, application_id: null, now: Date.now(), initiator: anInitiator() },
      });
    for (let round = 0; round < ROUNDS; round++) {
      const codes = await Promise.all(Array.from({ length: RECORDS }, () => issued(one)));
      const redeemed = await Promise.all([
        ...codes.map((code) => one.redeemCode(redemptionOf(code))),
        ...codes.toReversed().map((code) => other.redeemCode(redemptionOf(code))),
      ]);
      const winners = redeemed.flatMap((grant) => grant?.grant_id ?? []);
      expect(winners.toSorted()).toEqual(codes.map(({ grant_id }) => grant_id).toSorted());
      const revoked = await Promise.all([
        ...winners.map((grant_id) => revoke(one, grant_id)),
        ...winners.toReversed().map((grant_id) => revoke(other, grant_id)),
      ]);
      expect(revoked).not.toContain(null);
    }
    // Each backend tells at its end what it has counted.
    await Promise.all([one.close(), other.close()]);
    const name = new URL(url).pathname.slice(1);
    await vi.waitFor(
      async () => {
        const [found] = await query(
          server,
          `SELECT deadlocks, (SELECT count(*) FROM pg_stat_activity WHERE datname = $1) AS running
          FROM pg_stat_database WHERE datname = $1`,
          [name],
        );
        expect(found).toEqual({ deadlocks: '0', running: '0' });
      },
      { timeout: 30_000 },
    );
  });
});
