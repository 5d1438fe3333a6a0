import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';

export function describeLogNumbers(stores: SuiteStores): void {
  describe('the numbers of the log', () => {
    test('are taken once each, by calls at once in several processes', async () => {
      const { store, other } = stores;
      const before = await store.takeLogNumbers({ count: 0 });
      const calls = Array.from({ length: 30 }, (_, index) =>
        [store, other][index % 2]?.takeLogNumbers({ count: 1 + (index % 3) }),
      );
      const taken = (await Promise.all(calls)).flatMap((last = 0, index) =>
        Array.from({ length: 1 + (index % 3) }, (_, back) => last - back),
      );
      const expected = Array.from({ length: 60 }, (_, index) => before + 1 + index);
      expect(taken.toSorted((one, another) => one - another)).toEqual(expected);
      expect(await other.takeLogNumbers({ count: 0 })).toBe(before + 60);
    });

    test('are above a number that is given, and never go back', async () => {
      const { store, other } = stores;
      const before = await store.takeLogNumbers({ count: 1 });
      expect(await other.takeLogNumbers({ count: 0, above: before + 10 })).toBe(before + 10);
      expect(await store.takeLogNumbers({ count: 2, above: before })).toBe(before + 12);
    });
  });
}
