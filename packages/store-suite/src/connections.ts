import type {
  ApplicationRecord,
  ConnectedGrant,
  PendingRecord,
  RevokedRecord,
} from '@latchkey/store/records';
import type { Parties, Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import { revokeAll } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import {
  aChoice,
  aDeletion,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  granted,
  inPortions,
  issued,
} from './records.ts';

const ROUNDS = 40;
const whole = { limit: 100, after: null };

const byApplication = (one: { application_id: string }, other: { application_id: string }) =>
  one.application_id < other.application_id ? -1 : 1;

export function describeConnections(stores: SuiteStores): void {
  async function end(
    store: Store,
    connection: Parties,
    initiator = anInitiator(),
  ): Promise<RevokedRecord[]> {
    return revokeAll(store, { ...connection, now: 7, initiator });
  }

  describe('the connections of an account', () => {
    test('are its active grants, by application', async () => {
      const { store, other } = stores;
      const account = anAccount();
      const account_id = account.id;
      const all = [anApplication(), anApplication(), anApplication(), anApplication()] as const;
      const [mail, chat, ended, deleted] = all;
      for (const one of all) await store.createApplication(one);
      const grant = async (
        { id: application_id }: { id: string },
        members: Partial<Pick<PendingRecord, 'scope' | 'resource' | 'choice'>> = {},
      ) => {
        const { grant } = await granted(store, { account, application_id, ...members });
        const { account: _, ...connected } = grant;
        return connected;
      };
      const only = await grant(chat, { scope: 'read', resource: 'https://notes.example' });
      const ofMail: ConnectedGrant[] = [];
      for (const choice of [null, aChoice(), null]) ofMail.unshift(await grant(mail, { choice }));
      const revoked = await grant(ended);
      await store.revokeGrant({ ...revoked, now: 7, initiator: anInitiator() });
      await issued(store, { account, application_id: ended.id });
      await granted(store, { application_id: ended.id });
      await grant(deleted);
      await store.setApplicationDisabled(deleted.id, true, 7);
      await store.deleteApplication(aDeletion({ application_id: deleted.id }));
      const unknown = { id: anId() };
      await grant(unknown);

      // A pending code alone may count, and a grant of a deleted application until that is written down.
      const { connected, next } = await other.listConnected(account_id, whole);
      expect(next).toBeNull();
      const expected = connected.filter(
        ({ application_id }) => application_id !== ended.id && application_id !== deleted.id,
      );
      const named = ({ id, name, document, redirect_uris }: ApplicationRecord) => ({
        ...{ application_id: id, application: { name, document, redirect_uris } },
      });
      expect(expected).toEqual(
        [...[mail, chat].map(named), { application_id: unknown.id, application: null }].toSorted(
          byApplication,
        ),
      );
      expect(await other.listConnected(anId(), whole)).toEqual({ connected: [], next: null });
      // In parts, an application with more grants than a part has is there once.
      const ids: string[] = [];
      let after: string | null = null;
      do {
        const part = await other.listConnected(account_id, { limit: 2, after });
        ids.push(...part.connected.map(({ application_id }) => application_id));
        after = part.next;
      } while (after !== null);
      expect(ids).toEqual(connected.map(({ application_id }) => application_id));

      const grantsOf = ({ id: application_id }: { id: string }) =>
        other.listActiveGrants({ account_id, application_id }, { limit: 100, before: null });
      expect(await grantsOf(mail)).toEqual(ofMail);
      expect(await grantsOf(chat)).toEqual([only]);
      for (const none of [deleted, ended]) expect(await grantsOf(none)).toEqual([]);
    });

    test('have no grant that a mark has ended, before it is written down', async () => {
      const { store, other } = stores;
      const account = anAccount();
      const account_id = account.id;
      await store.putAccount(account);
      const [mail, chat] = [anApplication(), anApplication()];
      for (const one of [mail, chat]) await store.createApplication(one);
      const of = async ({ id }: ApplicationRecord) =>
        (await granted(store, { account, application_id: id })).grant.grant_id;
      const [, , kept] = [await of(mail), await of(mail), await of(chat)];
      const connected = async () => {
        const found = await Promise.all(
          [mail, chat].map(({ id: application_id }) =>
            other.listActiveGrants({ account_id, application_id }, { limit: 9, before: null }),
          ),
        );
        return found
          .flat()
          .map(({ grant_id }) => grant_id)
          .toSorted();
      };
      const mark = { now: 7, initiator: anInitiator() };
      await store.markRevocation({ account_id, application_id: mail.id, ...mark });
      expect(await connected()).toEqual([kept]);
      const later = await of(mail);
      expect(await connected()).toEqual([kept, later].toSorted());
      await store.markRevocation({ application_id: chat.id, ...mark });
      expect(await connected()).toEqual([later]);
      await store.markErasure({ account_id, ...mark });
      expect(await connected()).toEqual([]);
    });

    test('end with all of their grants and nothing else', async () => {
      const account = anAccount();
      const application_id = anId();
      const own = await Promise.all(
        [1, 2, 3].map(() => granted(stores.store, { account, application_id })),
      );
      const others = [
        await granted(stores.store, { account }),
        await granted(stores.store, { application_id }),
      ];
      const initiator = anInitiator();
      const ended = await end(stores.store, { account_id: account.id, application_id }, initiator);
      const byId = (one: { grant_id: string }, other: { grant_id: string }) =>
        one.grant_id.localeCompare(other.grant_id);
      expect(ended.toSorted(byId)).toEqual(
        own
          .map(({ grant: { grant_id, created_at } }) => ({
            ...{ grant_id, application_id, created_at, revoked_at: 7 },
          }))
          .toSorted(byId),
      );
      for (const { grant } of own) {
        const found = await stores.other.authenticateGrant(grant.grant_id, {
          currentAccount: true,
        });
        expect(found).toMatchObject({ secret_hash: null, grant: { revoked_at: 7 } });
        const history = await stores.other.findGrantHistory(grant.grant_id);
        expect(history?.revoked_by).toEqual(initiator);
      }
      for (const { grant } of others) {
        const found = await stores.other.authenticateGrant(grant.grant_id, {
          currentAccount: true,
        });
        expect(found?.grant.revoked_at).toBeNull();
      }
      expect(await end(stores.other, { account_id: account.id, application_id })).toEqual([]);
    });

    test('end for a whole account, and for a whole application', async () => {
      const [account, other] = [anAccount(), anAccount()];
      const [mail, chat] = [anId(), anId()];
      await stores.store.createApplication(anApplication({ id: chat }));
      const of = async (whose: typeof account, application_id: string) =>
        (await granted(stores.store, { account: whose, application_id })).grant.grant_id;
      const [own, second, others] = [
        await of(account, mail),
        await of(account, chat),
        await of(other, chat),
      ];
      const pending = await issued(stores.store, { account, application_id: chat });
      const idsOf = (ended: RevokedRecord[]) => ended.map(({ grant_id }) => grant_id).toSorted();
      const ofAccount = await end(stores.store, { account_id: account.id });
      expect(idsOf(ofAccount)).toEqual([own, second].toSorted());
      expect(idsOf(await end(stores.other, { application_id: chat }))).toEqual([others]);
      expect(await stores.other.findCode(pending.grant_id)).toBeNull();
    });

    test('end once, whoever else ends them', async () => {
      await inPortions(ROUNDS, async (round) => {
        const account = anAccount();
        const application_id = anId();
        const own = await Promise.all(
          [1, 2].map(() => granted(stores.store, { account, application_id })),
        );
        const connection = { account_id: account.id, application_id };
        const [one, two] = [stores.handle(round), stores.handle(round + 1)];
        const [{ grant }] = own as [(typeof own)[number]];
        const [first, second, alone] = await Promise.all([
          end(one, connection),
          end(two, connection),
          // In the same millisecond.
          two.revokeGrant({ ...grant, onlyActive: true, now: 7, initiator: anInitiator() }),
        ]);
        // Two that do the same work at once may both list what was written down.
        const ended = [...first, ...second, ...(alone ? [alone] : [])];
        expect(new Set(ended.map(({ grant_id }) => grant_id))).toEqual(
          new Set(own.map(({ grant: { grant_id } }) => grant_id)),
        );
        for (const one of ended) expect(one.revoked_at).toBe(7);
      });
    });
  });
}
