import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './suite-harness.ts';
import { anAccount, anId, atOnce } from './suite-records.ts';

export function describeAccounts(stores: SuiteStores): void {
  describe('accounts', () => {
    test('are found as they were put', async () => {
      const account = anAccount({ twitter: 'ada', verified: true, supporter: false });
      await stores.store.putAccount(account);
      expect(await stores.other.findAccount(account.id)).toEqual(account);
    });

    test('are replaced as a whole', async () => {
      const account = anAccount({ twitter: 'ada', verified: true });
      const replaced = anAccount({ id: account.id, username: 'ada2', display_name: 'Ada' });
      await stores.store.putAccount(account);
      await stores.store.putAccount(replaced);
      expect(await stores.store.findAccount(account.id)).toEqual(replaced);
    });

    test('that are unknown are null', async () => {
      expect(await stores.store.findAccount(anId())).toBeNull();
    });

    test('put by several at once are one of those, unmixed', async () => {
      const id = anId();
      const accounts = Array.from({ length: 8 }, (_, index) =>
        anAccount({ id, username: `ada${index}`, display_name: `Ada ${index}` }),
      );
      await atOnce(8, (turn) => stores.handle(turn).putAccount(accounts[turn] ?? anAccount()));
      expect(accounts).toContainEqual(await stores.store.findAccount(id));
    });
  });
}
