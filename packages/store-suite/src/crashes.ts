import type { GrantRecord } from '@latchkey/store/records';
import { expect, test } from 'vitest';
import { type Outcome, type StoreCall, StoreProcess } from './child.ts';
import type { SuiteStores } from './harness.ts';
import { anInitiator, atOnce, granted, grantOf, issued, present, redemptionOf } from './records.ts';

export function describeCrashes(stores: SuiteStores): void {
  stores.describeUnless('durability', 'a process that is killed', () => {
    test('loses nothing that it acknowledged', async () => {
      const codes = await atOnce(100, () => issued(stores.store));
      const grants = await atOnce(100, async () => (await granted(stores.store)).grant);
      const calls: StoreCall[] = codes.flatMap((code, index) => [
        { method: 'redeemCode', args: [redemptionOf(code)] },
        {
          method: 'revokeGrant',
          args: [{ ...(grants[index] as GrantRecord), now: Date.now(), initiator: anInitiator() }],
        },
      ]);
      const acknowledged = await killedAfter(30, calls);
      expect(acknowledged.length).toBeGreaterThanOrEqual(30);

      // As the next process opens it.
      const reopened = await stores.database.open();
      for (const grant of acknowledged) {
        expect(await grantOf(reopened, grant.grant_id)).toMatchObject(grant);
      }
      // What was not acknowledged happened completely or not at all.
      for (const code of codes) {
        const found = await reopened.authenticateGrant(code.grant_id, { currentAccount: false });
        const state = await reopened.findCode(code.grant_id);
        expect(state?.redeemed).toBe(found !== null);
        if (found) expect(found.secret_hash).toHaveLength(32);
        else expect(await reopened.redeemCode(redemptionOf(code))).not.toBeNull();
      }
      await reopened.close();
    });

    /** Kills the process after this many acknowledgements; returns what it acknowledged. */
    async function killedAfter(number: number, calls: StoreCall[]): Promise<GrantRecord[]> {
      const child = await StoreProcess.start(stores.database);
      await child.load(calls);
      const outcomes: Outcome[] = [];
      let killed: Promise<void> | null = null;
      await child
        .go((_, outcome) => {
          outcomes.push(outcome);
          if (outcomes.length === number) killed = child.kill();
        })
        .catch(() => {
          // It was killed before all of its calls ended.
        });
      await killed;
      return present(
        outcomes.map((outcome) =>
          'value' in outcome ? outcome.value : null,
        ) as (GrantRecord | null)[],
      );
    }
  });
}
