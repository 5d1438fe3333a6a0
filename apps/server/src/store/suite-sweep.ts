import { setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { SuiteStores } from './suite-harness.ts';
import { anId, aRefusal, exchanged, issued, redemptionOf } from './suite-records.ts';

export function describeSweep(stores: SuiteStores): void {
  describe('the sweep', () => {
    // The database's housekeeping may come once a minute: one test for all there is to see of it.
    test('deletes codes that nobody exchanged, refusals that expired and counts of the past, and never a grant', {
      timeout: stores.sweepTimeout,
    }, async () => {
      const code_expires_at = Date.now() + 1_500;
      // Exchanged a year before now: an adapter that sweeps by age of any kind would take them.
      const now = code_expires_at - 365 * 86_400_000;
      const unchanged = await Promise.all(
        ['active', 'used', 'revoked'].map(async (state) => {
          const code = await issued(stores.store, { code_expires_at });
          const redemption = redemptionOf(code, { now });
          const { grant_id, secret_hash } = redemption;
          await stores.store.redeemCode(redemption);
          if (state === 'used') {
            await stores.store.noteFirstUse({ grant_id, secret_hash, now });
          } else if (state === 'revoked') {
            await stores.store.revokeGrant({ ...redemption, now });
          }
          return stores.store.authenticateGrant(grant_id, { currentAccount: false });
        }),
      );
      const { code: fresh } = await exchanged(stores.store);
      const good = await issued(stores.store);
      const expired = await issued(stores.store, { code_expires_at });
      const request_id = expired.grant_id;
      const over = aRefusal({ request_id, expires_at: code_expires_at });
      const kept = aRefusal({ request_id });
      await stores.store.keepRefusals([over, kept]);
      const count = (ends_at: number) => {
        const addition = { key: anId(), points: 1, now: ends_at - 1, duration: 1 };
        return () => stores.store.addToCount(addition);
      };
      const [addToPast, addToPresent] = [count(Date.now() - 60_000), count(Date.now() + 600_000)];
      await Promise.all([addToPast(), addToPresent()]);

      await stores.database.waitForSweep(expired.grant_id);

      expect(await stores.store.findCode(expired.grant_id)).toBeNull();
      // Swept about then, too; on MongoDB each collection has its turn.
      await vi.waitFor(
        async () => expect(await stores.store.findRefusals({ request_id }, 9)).toEqual([kept]),
        { timeout: stores.sweepTimeout, interval: 250 },
      );
      for (const grant of unchanged) {
        const grant_id = grant?.grant.grant_id ?? '';
        expect(grant).not.toBeNull();
        const found = await stores.store.authenticateGrant(grant_id, { currentAccount: false });
        expect(found).toEqual(grant);
      }
      expect((await stores.store.findCode(fresh.grant_id))?.exchanged).toBe(true);
      expect(await stores.store.redeemCode(redemptionOf(good))).not.toBeNull();
      expect((await addToPresent()).count).toBe(2);
      // To the clock of this addition the window still runs: it counts on for as long as there is
      // something to add to.
      while ((await addToPast()).count !== 1) await setTimeout(1_000);
    });
  });
}
