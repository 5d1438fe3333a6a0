import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anId } from './records.ts';

export function describeRateLimits(stores: SuiteStores): void {
  describe('the count of a rate limit', () => {
    const duration = 60_000;

    test('is shared by all handles, and separate for each key', async () => {
      const [key, another, now] = [anId(), anId(), Date.now()];
      const counted = await Promise.all(
        Array.from({ length: 50 }, (_, turn) =>
          stores.handle(turn).addToCount({ key, points: 2, now, duration }),
        ),
      );
      // Each call got a different count: none was lost or made twice.
      expect(counted.map(({ count }) => count).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, turn) => 2 * (turn + 1)),
      );
      expect(new Set(counted.map(({ ends_at }) => ends_at))).toEqual(new Set([now + duration]));
      expect(await stores.store.addToCount({ key: another, points: 7, now, duration })).toEqual({
        count: 7,
        ends_at: now + duration,
      });
    });

    test('starts again when its window has ended, and not before', async () => {
      const [key, now] = [anId(), Date.now()];
      const add = (points: number, at: number) =>
        stores.store.addToCount({ key, points, now: at, duration });
      await add(5, now);
      expect(await add(-1, now + duration - 1)).toEqual({ count: 4, ends_at: now + duration });
      expect(await add(1, now + duration)).toEqual({ count: 1, ends_at: now + 2 * duration });
    });

    test('ends at most one window from now, whatever another clock said', async () => {
      const [key, now] = [anId(), Date.now()];
      const aYear = 365 * 86_400_000;
      await stores.store.addToCount({ key, points: 5, now: now + aYear, duration });
      expect(await stores.store.addToCount({ key, points: 1, now, duration })).toEqual({
        count: 6,
        ends_at: now + duration,
      });
    });
  });
}
