import { textOfHash } from '@latchkey/domain/credentials/credentials';
import { REOPENING, SESSIONS_OF_TICKET } from '@latchkey/domain/lifetimes';
import { describe, expect, test } from 'vitest';
import { erase } from './finish.ts';
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

    test('has an account, which is the current one', async () => {
      const page = await kept();
      const account = anAccount({ id: page.account_id, username: 'renamed' });
      await stores.store.putAccount(account);
      expect(await stores.other.findPageAccount(page.id)).toEqual(account);
      expect(await stores.store.findPageAccount(anId())).toBeNull();
    });

    test('ends with all pages of its account, and later ones do not', async () => {
      const account = anAccount();
      await stores.store.putAccount(account);
      const create = async () => {
        const page = aPage({ account_id: account.id });
        await stores.store.createPage({ ...page, initiator: anInitiator() });
        return page;
      };
      const [ended, other] = [[await create(), await create()], await kept()];
      for (let time = 0; time < 2; time++) {
        await stores.other.endPages(account.id);
        for (const { id } of ended) {
          expect(await stores.store.findPageAccount(id)).toBe('signed_out');
        }
        const later = await create();
        expect(await stores.other.findPageAccount(later.id)).toEqual(account);
        // What is put later is the same account.
        await stores.other.putAccount(account);
        expect(await stores.store.findPageAccount(later.id)).toEqual(account);
        expect(await stores.store.findPageAccount(ended[0]?.id ?? '')).toBe('signed_out');
        ended.push(later);
      }
      expect(await stores.store.findPageAccount(other.id)).not.toBe('signed_out');
    });

    test('that is created while they end is ended or not, and those from before are', async () => {
      for (let round = 0; round < 10; round++) {
        const before = await kept();
        const page = aPage({ account_id: before.account_id });
        await Promise.all([
          stores.handle(round).createPage({ ...page, initiator: anInitiator() }),
          ...Array.from({ length: 3 }, () => stores.handle(round + 1).endPages(page.account_id)),
          stores.handle(round).putAccount(anAccount({ id: page.account_id })),
        ]);
        expect(await stores.store.findPageAccount(before.id)).toBe('signed_out');
        expect(await stores.store.findPageAccount(page.id)).not.toBeNull();
        const after = aPage({ account_id: page.account_id });
        await stores.store.createPage({ ...after, initiator: anInitiator() });
        expect(await stores.other.findPageAccount(after.id)).toMatchObject({ id: page.account_id });
      }
    });

    test('of an unknown account leaves nothing behind when it ends', async () => {
      const account = anAccount();
      await stores.store.endPages(account.id);
      expect(await stores.other.findAccount(account.id)).toBeNull();
      await stores.store.putAccount(account);
      await erase(stores.store, {
        ...{ account_id: account.id, now: Date.now(), initiator: anInitiator() },
      });
      await stores.store.endPages(account.id);
      expect(await stores.other.findAccount(account.id)).toBeNull();
    });

    test('is opened with its ticket', async () => {
      const page = await kept();
      const opening = openingOf(page, {
        now: page.ticket_expires_at - 1,
        initiator: anInitiator(),
      });
      const { session_hash, expires_at, now } = opening;
      const expected = { ...page, opened_at: now, waiting: [textOfHash(session_hash)], expires_at };
      expect(await stores.store.openPage(opening)).toEqual(expected);
      expect(await stores.other.findPage(page.id)).toEqual(expected);
    });

    test('is not opened with another ticket, or one that has expired', async () => {
      const page = await kept();
      for (const opening of [
        openingOf(page, { ticket_hash: aHash() }),
        openingOf(page, { now: page.ticket_expires_at }),
        openingOf(page, { page_id: anId() }),
      ]) {
        expect(await stores.store.openPage(opening)).toBeNull();
        expect(await stores.other.findPage(page.id)).toEqual(page);
      }
    });

    test('is opened again for ten seconds, until it has eight sessions', async () => {
      const page = await kept();
      const now = page.ticket_expires_at - 1;
      const opened = await stores.store.openPage(openingOf(page, { now }));
      const last = now + REOPENING - 1;
      const again = await stores.other.openPage(openingOf(page, { now: last, expires_at: 1 }));
      expect(again).toEqual({ ...opened, waiting: [opened?.waiting?.[0], expect.anything()] });
      expect(await stores.store.openPage(openingOf(page, { now: last + 1 }))).toBeNull();
      expect(await stores.store.findPage(page.id)).toEqual(again);

      const racing = await kept();
      const openings = await atOnce(16, (index) =>
        stores.handle(index).openPage(openingOf(racing)),
      );
      expect(present(openings)).toHaveLength(SESSIONS_OF_TICKET);
      expect((await stores.store.findPage(racing.id))?.waiting).toHaveLength(SESSIONS_OF_TICKET);
    });

    test('belongs to the session that comes back first, whichever of many', async () => {
      for (let round = 0; round < 10; round++) {
        const page = await kept();
        const openings = Array.from({ length: 8 }, () => openingOf(page));
        await Promise.all(openings.map((opening) => stores.store.openPage(opening)));
        const returns = await atOnce(16, (index) =>
          stores.handle(index).returnToPage(page.id, openings[index % 8]?.session_hash ?? aHash()),
        );
        const found = await stores.store.findPage(page.id);
        // The same session again has the same answer.
        const own = openings.findIndex(
          ({ session_hash }) => hex(session_hash) === hex(found?.session_hash),
        );
        const expected = returns.map((_, index) => (index % 8 === own ? found : null));
        expect(returns).toEqual(expected);
        expect(found?.waiting).toBeNull();
        expect(await stores.other.openPage(openingOf(page))).toBeNull();
        expect(await stores.store.findPage(page.id)).toEqual(found);
      }
    });

    test('belongs to no session that it did not hand out', async () => {
      const page = await kept();
      expect(await stores.store.returnToPage(page.id, aHash())).toBeNull();
      const opened = await stores.store.openPage(openingOf(page));
      expect(await stores.store.returnToPage(page.id, aHash())).toBeNull();
      expect(await stores.store.returnToPage(anId(), aHash())).toBeNull();
      expect(await stores.other.findPage(page.id)).toEqual(opened);
    });
  });
}

const hex = (hash: Uint8Array | null | undefined) => Buffer.from(hash ?? []).toString('hex');
