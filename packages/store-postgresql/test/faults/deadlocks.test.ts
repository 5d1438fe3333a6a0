import type { GrantRecord } from '@latchkey/store/records';
import { type StoreCall, StoreProcess, together } from '@latchkey/store-suite/child';
import { anInitiator, atOnce, issued, present, redemptionOf } from '@latchkey/store-suite/records';
import { describeOnEachPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';
import { postgresqlHarness } from '../postgresql-harness.ts';

const RECORDS = 400;
const ROUNDS = 4;

describeOnEachPostgresql('two processes that batch the same records in other orders', (server) => {
  test('never wait for each other, and each code has one winner', async () => {
    const database = await postgresqlHarness(server).fresh();
    onTestFinished(() => database.remove());
    const store = await openPostgresqlStore({ url: database.url, clock: Date.now });
    onTestFinished(() => store.close());
    const processes = await atOnce(2, async () => {
      const process = await StoreProcess.start(database);
      onTestFinished(() => process.stop());
      return process;
    });
    const inBoth = async (callsOf: () => StoreCall[]) => {
      const outcomes = await together(processes, (index) =>
        index === 0 ? callsOf() : callsOf().toReversed(),
      );
      return outcomes.flat() as (GrantRecord | null)[];
    };
    for (let round = 0; round < ROUNDS; round++) {
      const codes = await atOnce(RECORDS, () => issued(store));
      const ids = codes.map(({ grant_id }) => grant_id);
      const redeemed = await inBoth(() =>
        codes.map((code) => ({ method: 'redeemCode', args: [redemptionOf(code)] })),
      );
      const winners = present(redeemed).map(({ grant_id }) => grant_id);
      expect(winners.toSorted()).toEqual(ids.toSorted());
      const [now, initiator] = [Date.now(), anInitiator()];
      const revoked = await inBoth(() =>
        ids.map((grant_id) => ({
          method: 'revokeGrant',
          args: [{ grant_id, application_id: null, now, initiator }],
        })),
      );
      expect(revoked).not.toContain(null);
    }
    // Each backend tells at its end what it has counted.
    const name = new URL(database.url).pathname.slice(1);
    const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1';
    await vi.waitFor(
      async () => {
        expect(await query(server, end, [name])).toEqual([]);
        const counted = 'SELECT deadlocks FROM pg_stat_database WHERE datname = $1';
        expect(await query(server, counted, [name])).toEqual([{ deadlocks: '0' }]);
      },
      { timeout: 30_000 },
    );
  });
});
