import type { GrantRecord } from '@latchkey/store/records';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aCode, anAccount, anId, anInitiator, granted, issued } from './records.ts';

export function describeLists(stores: SuiteStores): void {
  describe('lists of grants', () => {
    const accounts = [anAccount(), anAccount()] as const;
    const applications = [anId(), anId()] as const;
    const grants: GrantRecord[] = [];
    const pending: string[] = [];

    // Twelve grants of all pairs of accounts and applications, and twelve codes between them, written
    // out of order.
    beforeAll(async () => {
      const codes = Array.from({ length: 24 }, (_, index) =>
        aCode({
          account: accounts[index % 2] ?? accounts[0],
          application_id: applications[Math.floor(index / 2) % 2] ?? applications[0],
        }),
      );
      const disorder = codes.map((_, index) => (index * 7) % 24);
      for (const index of disorder) {
        const code = codes[index] ?? aCode();
        if (index % 8 < 4) {
          grants.push((await granted(stores.handle(index), code)).grant);
        } else {
          pending.push((await issued(stores.handle(index), code)).grant_id);
        }
      }
      const [revoked] = grants;
      if (revoked)
        await stores.store.revokeGrant({
          ...revoked,
          now: revoked.created_at + 1,
          initiator: anInitiator(),
        });
      Object.assign(revoked ?? {}, { revoked_at: (revoked?.created_at ?? 0) + 1 });
      grants.sort((a, b) => (a.grant_id < b.grant_id ? 1 : -1));
    });

    const all = { limit: 100, before: null };

    test('have the grants of the account, newest first, with revoked ones and without codes', async () => {
      for (const { id } of accounts) {
        const own = grants.filter(({ account }) => account.id === id);
        expect(own).toHaveLength(6);
        expect(await stores.store.listGrants({ account_id: id }, all)).toEqual(own);
      }
    });

    test('have the grants of the application, newest first', async () => {
      for (const application_id of applications) {
        const own = grants.filter((grant) => grant.application_id === application_id);
        expect(own).toHaveLength(6);
        expect(await stores.store.listGrants({ application_id }, all)).toEqual(own);
      }
      expect(grants.filter(({ revoked_at }) => revoked_at !== null)).toHaveLength(1);
    });

    test.each([1, 2, 5, 6, 7])('have pages of %d without gaps or repetitions', async (limit) => {
      const [{ id: account_id }] = accounts;
      const listed: GrantRecord[] = [];
      let before: string | null = null;
      do {
        const part: GrantRecord[] = await stores.store.listGrants(
          { account_id },
          { limit, before },
        );
        expect(part.length).toBeLessThanOrEqual(limit);
        listed.push(...part);
        before = part.at(-1)?.grant_id ?? null;
      } while (before !== null && listed.length < 10);
      expect(listed).toEqual(grants.filter(({ account }) => account.id === account_id));
    });

    test('of histories have what is found for each grant of the account', async () => {
      const [{ id }] = accounts;
      const own = grants.filter(({ account }) => account.id === id);
      const found = own.map(async ({ grant_id }) => ({
        ...(await stores.store.findGrantHistory(grant_id)),
        link_id: (await stores.store.findCode(grant_id))?.link_id,
      }));
      const histories = await Promise.all(found);
      expect(await stores.other.listGrantHistories(id, all)).toEqual(histories);
      const before = own[2]?.grant_id ?? null;
      expect(await stores.store.listGrantHistories(id, { limit: 2, before })).toEqual(
        histories.slice(3, 5),
      );
    });

    test('of active grants have those of the connection', async () => {
      const [{ id: account_id }] = accounts;
      const active = grants.filter(
        ({ account, revoked_at }) => account.id === account_id && revoked_at === null,
      );
      expect(active).toHaveLength(5);
      for (const application_id of applications) {
        const own = active
          .filter((grant) => grant.application_id === application_id)
          .map(({ account: _, ...grant }) => grant);
        const filter = { account_id, application_id };
        expect(await stores.other.listActiveGrants(filter, all)).toEqual(own);
        const [first, ...rest] = own;
        expect(await stores.store.listActiveGrants(filter, { limit: 1, before: null })).toEqual([
          first,
        ]);
        const next = { limit: 9, before: first?.grant_id ?? null };
        expect(await stores.store.listActiveGrants(filter, next)).toEqual(rest);
      }
      const unknown = { account_id: anId(), application_id: applications[0] ?? '' };
      expect(await stores.store.listActiveGrants(unknown, all)).toEqual([]);
    });

    test('continue after an id that is not in the list', async () => {
      const [{ id: account_id }] = accounts;
      for (const before of pending) {
        const part = await stores.store.listGrants({ account_id }, { limit: 100, before });
        expect(part).toEqual(
          grants.filter((grant) => grant.account.id === account_id && grant.grant_id < before),
        );
      }
    });

    test('are empty for an unknown id', async () => {
      expect(await stores.store.listGrants({ account_id: anId() }, all)).toEqual([]);
      expect(await stores.store.listGrants({ application_id: anId() }, all)).toEqual([]);
      // The id of an account is not that of an application.
      const [{ id: application_id }] = accounts;
      expect(await stores.store.listGrants({ application_id }, all)).toEqual([]);
    });

    test('do not shift if a grant is made between two pages', async () => {
      const account = anAccount();
      const [first, second] = [
        await granted(stores.store, { account }),
        await granted(stores.store, { account }),
      ];
      const filter = { account_id: account.id };
      const part = await stores.store.listGrants(filter, { limit: 1, before: null });
      expect(part).toEqual([second.grant]);
      await granted(stores.store, { account });
      const next = { limit: 1, before: second.grant.grant_id };
      expect(await stores.store.listGrants(filter, next)).toEqual([first.grant]);
    });
  });
}
