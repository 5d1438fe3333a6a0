import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aCommandChange } from './records.ts';

export function describeCommandChanges(stores: SuiteStores): void {
  describe('changes on the command line', () => {
    test('wait, oldest first, until they are forgotten', async () => {
      const { store, other } = stores;
      const [first, second, third] = [
        aCommandChange({ ids: {} }),
        aCommandChange({ os_user: 'a user with spaces' }),
        aCommandChange(),
      ];
      await store.keepCommandChanges([second, first]);
      await store.keepCommandChanges([first, third]);
      expect(await other.listCommandChanges(9)).toStrictEqual([first, second, third]);
      expect(await other.listCommandChanges(2)).toStrictEqual([first, second]);
      await store.forgetCommandChanges([first.id, third.id, aCommandChange().id]);
      expect(await other.listCommandChanges(9)).toStrictEqual([second]);
      await store.forgetCommandChanges([second.id]);
      expect(await other.listCommandChanges(9)).toEqual([]);
    });
  });
}
