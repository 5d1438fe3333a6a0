import type { CountedPlace } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anApplication, anInitiator, atOnce, granted, issued } from './records.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
// Other suites use the same database, and the present hours.
const BEGIN = Math.floor(Date.now() / DAY) * DAY + DAY;

type Part = { count: number; after: CountedPlace | null };

export function describeCounts(stores: SuiteStores): void {
  describe('counts', () => {
    test('of several processes at once are added up, each in its hour', async () => {
      await atOnce(32, (turn) =>
        stores.handle(turn).addCounts({
          hour: BEGIN + (turn % 2) * HOUR,
          counts: { 'grants:created': 2, 'refused:code_expired:-': turn },
        }),
      );
      const since = BEGIN;
      expect(await stores.other.listCounts({ since, until: since + 2 * HOUR })).toEqual([
        { hour: since, counts: { 'grants:created': 32, 'refused:code_expired:-': 240 } },
        { hour: since + HOUR, counts: { 'grants:created': 32, 'refused:code_expired:-': 256 } },
      ]);
      const second = { since: since + HOUR, until: since + 2 * HOUR };
      expect(await stores.store.listCounts(second)).toHaveLength(1);
      expect(await stores.store.listCounts({ since: since - HOUR, until: since })).toEqual([]);
    });

    test('of active grants find each one, however they are divided', async () => {
      const count = async (limit: number) => {
        let sum = 0;
        let after: CountedPlace | null = null;
        do {
          const part: Part = await stores.store.countActiveGrants({ after, limit });
          sum += part.count;
          after = part.after;
        } while (after !== null);
        return sum;
      };
      const before = await count(1_000_000);
      const { id: application_id } = anApplication();
      const made = await atOnce(3, () => granted(stores.store, { application_id }));
      await granted(stores.store);
      await issued(stores.store, { application_id });
      for (const limit of [2, 7, 1_000_000]) expect(await count(limit)).toBe(before + 4);
      const [first] = made;
      const grant_id = first?.grant.grant_id as string;
      const initiator = anInitiator();
      await stores.store.revokeGrant({ grant_id, application_id: null, now: 1, initiator });
      expect(await count(2)).toBe(before + 3);
    });

    test('of active grants are kept up to date', async () => {
      const { store, other } = stores;
      await store.keepLiveCount({ count: 50, counted_at: BEGIN + DAY });
      const counts = { 'grants:created': 5, 'revoked:user': 2, 'revoked:idle': 1 } as const;
      await other.addCounts({ hour: BEGIN + DAY, counts: { ...counts, 'links:begun': 9 } });
      expect(await store.findLiveCount()).toEqual({ count: 52, counted_at: BEGIN + DAY });
    });
  });
}
