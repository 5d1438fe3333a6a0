import { describe, expect, test } from 'vitest';
import { calls } from './calls.ts';
import type { SuiteStores } from './harness.ts';
import { atOnce, grantOf, issued, redemptionOf } from './records.ts';

export function describeLifecycle(stores: SuiteStores): void {
  describe('the store itself', () => {
    test('responds to a ping', async () => {
      expect(await stores.store.ping()).toBeUndefined();
    });

    test('finishes the running calls when it is closed', async () => {
      const codes = await atOnce(50, () => issued(stores.store));
      const closed = await stores.database.open();
      const running = Promise.all(codes.map((code) => closed.redeemCode(redemptionOf(code))));
      await closed.close();
      for (const grant of await running) {
        expect(grant).not.toBeNull();
        expect(await grantOf(stores.store, grant?.grant_id ?? '')).toEqual(grant);
      }
    });

    test('refuses every call once it is closed, and closing again is harmless', async () => {
      const closed = await stores.database.open();
      await closed.close();
      for (const [method, call] of Object.entries(calls)) {
        // With the method, so that a failure names it.
        const refusal = await call(closed).then(
          () => 'resolved',
          (error) => error.code,
        );
        const isBehindMark = method === 'doStep' || method === 'finishWork';
        const expected = isBehindMark ? 'outcome_unknown' : 'store_unavailable';
        expect({ method, refusal }).toEqual({ method, refusal: expected });
      }
      await closed.close();
      await stores.store.ping();
    });
  });
}
