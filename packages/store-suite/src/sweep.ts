import { setTimeout } from 'node:timers/promises';
import { COUNTS_KEPT, LINKS_KEPT } from '@latchkey/domain/lifetimes';
import { slow } from '@latchkey/test-kit/long';
import { describe, expect, test, vi } from 'vitest';
import type { SuiteStores } from './harness.ts';
import {
  aKeptDocument,
  anId,
  anInitiator,
  aPage,
  aRefusal,
  granted,
  identified,
  issued,
  redemptionOf,
} from './records.ts';

export function describeSweep(stores: SuiteStores): void {
  describe('the sweep', () => {
    // One test for everything, since MongoDB's housekeeping runs once a minute.
    test('deletes what expired long enough ago, and never a grant', {
      timeout: stores.sweepTimeout,
      ...(stores.sweepTimeout > 60_000 ? slow : {}),
    }, async () => {
      const soon = Date.now() + 1_500;
      const code_expires_at = soon - stores.expiredCodesKept;
      // Redeemed a year ago: a store that sweeps by any age would delete them.
      const now = code_expires_at - 365 * 86_400_000;
      const unchanged = await Promise.all(
        ['active', 'used', 'revoked'].map(async (state) => {
          const code = await issued(stores.store, { code_expires_at });
          const redemption = redemptionOf(code, { now });
          const { grant_id, secret_hash } = redemption;
          await stores.store.redeemCode(redemption);
          if (state === 'used') {
            await stores.store.noteUse({
              grant_id,
              secret_hash,
              now,
              initiator: anInitiator(),
            });
          } else if (state === 'revoked') {
            await stores.store.revokeGrant({ ...redemption, now });
          }
          return stores.store.authenticateGrant(grant_id, { currentAccount: false });
        }),
      );
      const { code: fresh } = await granted(stores.store);
      const good = await issued(stores.store);
      const expired = await issued(stores.store, { code_expires_at });
      const request_id = expired.grant_id;
      const past = aRefusal({ request_id, expires_at: code_expires_at });
      const kept = aRefusal({ request_id });
      await stores.store.keepRefusals([past, kept]);
      const count = (ends_at: number) => {
        const addition = { key: anId(), points: 1, now: ends_at - 1, duration: 1 };
        return () => stores.store.addToCount(addition);
      };
      const [addToPast, addToPresent] = [count(Date.now() - 60_000), count(Date.now() + 600_000)];
      await Promise.all([addToPast(), addToPresent()]);

      const document = aKeptDocument({ kept_until: soon });
      const pin = aKeptDocument();
      await stores.store.keepDocument(document);
      await stores.store.pinDocument(pin, { most: 100 });

      const hourOf = (time: number) => Math.floor(time / 3_600_000) * 3_600_000;
      const counts = { 'grants:created': 1 };
      const oldHour = { hour: hourOf(Date.now() - COUNTS_KEPT), counts };
      const keptHour = { hour: hourOf(Date.now() - COUNTS_KEPT) + 7_200_000, counts };
      for (const hour of [oldHour, keptHour]) await stores.store.addCounts(hour);

      // Link requests and pages stay for a while, to say that they expired.
      const atEnd = async (expires_at: number) => {
        const { link } = await identified(stores.store, { expires_at });
        const page = aPage({ account_id: link.account_id ?? '', expires_at });
        await stores.store.createPage({ ...page, initiator: anInitiator() });
        return async () =>
          Promise.all([stores.store.findLink(link.id), stores.store.findPage(page.id)]);
      };
      const over = await atEnd(Date.now() - LINKS_KEPT);
      const late = await atEnd(Date.now() - LINKS_KEPT + 600_000);

      await stores.database.waitForSweep(expired.grant_id);

      expect(await stores.store.findCode(expired.grant_id)).toBeNull();
      // MongoDB sweeps one collection after the other.
      await vi.waitFor(
        async () =>
          expect(
            await stores.store.findRefusals({ request_id }, { limit: 9, before: null }),
          ).toEqual([kept]),
        { timeout: stores.sweepTimeout, interval: 250 },
      );
      await vi.waitFor(async () => expect(await over()).toEqual([null, null]), {
        timeout: stores.sweepTimeout,
        interval: 250,
      });
      const findDocument = () => stores.store.findKeptDocument(document.document_uri);
      await vi.waitFor(async () => expect(await findDocument()).toBeNull(), {
        timeout: stores.sweepTimeout,
        interval: 250,
      });
      expect(await stores.store.findKeptDocument(pin.document_uri)).not.toBeNull();
      const hours = async () => {
        const time = { since: oldHour.hour, until: keptHour.hour + 1 };
        return (await stores.store.listCounts(time)).map(({ hour }) => hour);
      };
      await vi.waitFor(async () => expect(await hours()).toEqual([keptHour.hour]), {
        timeout: stores.sweepTimeout,
        interval: 250,
      });
      expect(await late()).not.toContain(null);
      for (const grant of unchanged) {
        const grant_id = grant?.grant.grant_id ?? '';
        expect(grant).not.toBeNull();
        const found = await stores.store.authenticateGrant(grant_id, { currentAccount: false });
        expect(found).toEqual(grant);
      }
      expect((await stores.store.findCode(fresh.grant_id))?.redeemed).toBe(true);
      expect(await stores.store.redeemCode(redemptionOf(good))).not.toBeNull();
      expect((await addToPresent()).count).toBe(2);
      // By the clock of this addition the window still runs: it starts at 1 only once the count was
      // deleted.
      while ((await addToPast()).count !== 1) await setTimeout(1_000);
    });
  });
}
