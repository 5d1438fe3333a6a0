import { randomUUID } from 'node:crypto';
import type { CurrentAccount } from '@latchkey/store/records';
import { describe, expect, test } from 'vitest';
import { erase } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import { anAccount, anId, anInitiator, atOnce } from './records.ts';

export function describeAccounts(stores: SuiteStores): void {
  describe('accounts', () => {
    test('are read as they were put', async () => {
      const members = { twitter: 'ada', verified: true, supporter: false, external_id: 'a-1' };
      const account = anAccount(members);
      await stores.store.putAccount(account);
      expect(await stores.other.findAccount(account.id)).toEqual(account);
    });

    test('are replaced as a whole', async () => {
      const account = anAccount({ twitter: 'ada', verified: true, external_id: 'a-1' });
      const replaced = anAccount({ id: account.id, username: 'ada2', display_name: 'Ada' });
      await stores.store.putAccount(account);
      await stores.store.putAccount(replaced);
      expect(await stores.store.findAccount(account.id)).toEqual(replaced);
    });

    test('that are unknown are null', async () => {
      expect(await stores.store.findAccount(anId())).toBeNull();
    });

    test('are listed in the order of their first put, newest first, part by part', async () => {
      await stores.withFresh(async (database) => {
        const store = await database.open();
        // Ids without an order of their own, as operators choose them.
        const accounts = Array.from({ length: 5 }, () => anAccount({ id: randomUUID() }));
        for (const account of accounts) await store.putAccount(account);
        const [first = anAccount()] = accounts;
        const renamed = { ...first, username: 'renamed' };
        await store.putAccount(renamed);
        const listed: CurrentAccount[] = [];
        let before: string | null = null;
        do {
          const part = await store.listAccounts({}, { limit: 2, before });
          listed.push(...part.map(({ account }) => account));
          before = part.at(-1)?.place ?? null;
        } while (before !== null);
        expect(listed).toEqual([...accounts.slice(1).reverse(), renamed]);
        await store.close();
      });
    });

    test('are found by exactly their current username', async () => {
      const username = `Ada ${anId()}`;
      const [one, other] = [anAccount({ username }), anAccount({ username })];
      await stores.store.putAccount(one);
      await stores.store.putAccount(other);
      await stores.store.putAccount(anAccount({ username: `${username}2` }));
      const found = async (name: string) => {
        const part = await stores.other.listAccounts(
          { username: name },
          { limit: 9, before: null },
        );
        return part.map(({ account }) => account);
      };
      expect(await found(username)).toEqual([other, one]);
      expect(await found(username.toLowerCase())).toEqual([]);
      expect(await found(username.slice(0, -1))).toEqual([]);
      await stores.store.putAccount({ ...one, username: 'somebody' });
      expect(await found(username)).toEqual([other]);
    });

    test('are found by exactly their current external id', async () => {
      const external_id = anId();
      const [one, other] = [anAccount({ external_id }), anAccount({ external_id })];
      const another = anAccount({ external_id: `${external_id}2` });
      for (const account of [one, other, another]) await stores.store.putAccount(account);
      const found = async () => {
        const part = await stores.other.listAccounts({ external_id }, { limit: 9, before: null });
        return part.map(({ account }) => account);
      };
      expect(await found()).toEqual([other, one]);
      const { external_id: _, ...without } = one;
      await stores.store.putAccount(without);
      expect(await found()).toEqual([other]);
      const erasure = { account_id: other.id, now: 1, initiator: anInitiator() };
      await erase(stores.store, erasure);
      expect(await found()).toEqual([]);
    });

    test('put by several calls at once are one of those accounts, not a mixture', async () => {
      const id = anId();
      const accounts = Array.from({ length: 8 }, (_, index) =>
        anAccount({ id, username: `ada${index}`, display_name: `Ada ${index}` }),
      );
      await atOnce(8, (turn) => stores.handle(turn).putAccount(accounts[turn] ?? anAccount()));
      expect(accounts).toContainEqual(await stores.store.findAccount(id));
    });
  });
}
