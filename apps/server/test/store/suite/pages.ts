import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import {
  aHash,
  anAccount,
  anId,
  anInitiator,
  aPage,
  atOnce,
  openingOf,
  present,
} from './records.ts';

export function describePages(stores: SuiteStores): void {
  const kept = async (members = {}) => {
    const account = anAccount();
    await stores.store.putAccount(account);
    const page = aPage({ account_id: account.id, ...members });
    await stores.store.createPage({ ...page, initiator: anInitiator() });
    return page;
  };

  describe('a page', () => {
    test('is found as it was kept', async () => {
      const page = await kept();
      expect(await stores.other.findPage(page.id)).toEqual(page);
      const bare = await kept({ return_url: null, locale: null });
      expect(await stores.other.findPage(bare.id)).toEqual(bare);
      expect(await stores.other.findPage(anId())).toBeNull();
    });

    test('is not kept for an account that there is not', async () => {
      const page = aPage();
      expect(await stores.store.createPage({ ...page, initiator: anInitiator() })).toBeNull();
      expect(await stores.other.findPage(page.id)).toBeNull();
    });

    test('is opened with its ticket', async () => {
      const page = await kept();
      const opening = openingOf(page, {
        now: page.ticket_expires_at - 1,
        initiator: anInitiator(),
      });
      const { session_hash, expires_at } = opening;
      const expected = { ...page, session_hash, expires_at };
      expect(await stores.store.openPage(opening)).toEqual(expected);
      expect(await stores.other.findPage(page.id)).toEqual(expected);
    });

    test('is not opened with another ticket, a used one, or one that has expired', async () => {
      const page = await kept();
      for (const opening of [
        openingOf(page, { ticket_hash: aHash() }),
        openingOf(page, { now: page.ticket_expires_at }),
        openingOf(page, { page_id: anId() }),
      ]) {
        expect(await stores.store.openPage(opening)).toBeNull();
        expect(await stores.other.findPage(page.id)).toEqual(page);
      }
      const opened = await stores.store.openPage(openingOf(page));
      expect(await stores.store.openPage(openingOf(page))).toBeNull();
      expect(await stores.other.findPage(page.id)).toEqual(opened);
    });

    test('is opened once, by one of many', async () => {
      for (let round = 0; round < 10; round++) {
        const page = await kept();
        const results = await atOnce(16, (index) => stores.handle(index).openPage(openingOf(page)));
        const [opened] = present(results);
        expect(present(results)).toHaveLength(1);
        expect(await stores.store.findPage(page.id)).toEqual(opened);
      }
    });
  });
}
