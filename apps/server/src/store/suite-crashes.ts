import { describe, expect, test } from 'vitest';
import type { GrantRecord } from './records.ts';
import { type Outcome, type StoreCall, StoreProcess } from './suite-child.ts';
import type { SuiteStores } from './suite-harness.ts';
import { atOnce, exchanged, issued, present, redemptionOf } from './suite-records.ts';

const TIMEOUT = 60_000;

export function describeCrashes(stores: SuiteStores): void {
  describe('a process that is killed', () => {
    test('takes back nothing that it acknowledged', { timeout: TIMEOUT }, async () => {
      const codes = await atOnce(100, () => issued(stores.store));
      const grants = await atOnce(100, async () => (await exchanged(stores.store)).grant);
      const calls: StoreCall[] = codes.flatMap((code, index) => [
        { method: 'redeemCode', args: [redemptionOf(code)] },
        { method: 'revokeGrant', args: [{ ...grants[index], now: Date.now() }] },
      ]);
      const acknowledged = await killedAfter(30, calls);
      expect(acknowledged.length).toBeGreaterThanOrEqual(30);

      // Opened anew, as the next process would.
      const reopened = await stores.database.open();
      for (const grant of acknowledged) {
        expect(await reopened.findGrant(grant.grant_id)).toEqual(grant);
      }
      // What was not acknowledged happened wholly or not at all.
      for (const code of codes) {
        const found = await reopened.authenticateGrant(code.grant_id, { currentAccount: false });
        const state = await reopened.findCode(code.grant_id);
        expect(state?.exchanged).toBe(found !== null);
        if (found) expect(found.secret_hash).toHaveLength(32);
        else expect(await reopened.redeemCode(redemptionOf(code))).not.toBeNull();
      }
      await reopened.close();
    });

    /** Kills the process with the acknowledgement of that number; returns what it acknowledged. */
    async function killedAfter(number: number, calls: StoreCall[]): Promise<GrantRecord[]> {
      const child = await StoreProcess.start(stores.database.url);
      await child.load(calls);
      const heard: Outcome[] = [];
      let killed: Promise<void> | null = null;
      await child
        .go((_, outcome) => {
          heard.push(outcome);
          if (heard.length === number) killed = child.kill();
        })
        .catch(() => {
          // It ended before all of its calls did, as it should.
        });
      await killed;
      return present(
        heard.map((outcome) =>
          'value' in outcome ? outcome.value : null,
        ) as (GrantRecord | null)[],
      );
    }
  });
}
