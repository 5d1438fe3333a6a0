import type { Choice } from '@latchkey/schema';
import type { PendingRecord, RevokedRecord } from '@latchkey/store/records';
import type { Parties, Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import { revokeAll } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import {
  aChoice,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  granted,
  inPortions,
  issued,
} from './records.ts';

const ROUNDS = 40;

export function describeConnections(stores: SuiteStores): void {
  async function end(
    store: Store,
    connection: Parties,
    initiator = anInitiator(),
  ): Promise<RevokedRecord[]> {
    return revokeAll(store, { ...connection, now: 7, initiator });
  }

  describe('the connections of an account', () => {
    test('are the sums of its active grants by application', async () => {
      const account = anAccount();
      const [mail, chat, ended] = [anId(), anId(), anId()];
      const [notes, files] = ['https://notes.example', 'https://files.example'];
      const [acme, renamed] = [aChoice(), aChoice({ label: 'Acme Ltd.' })];
      const grant = async (
        application_id: string,
        scope: string,
        {
          resource = null,
          choice = null,
        }: Partial<Pick<PendingRecord, 'resource' | 'choice'>> = {},
      ) =>
        (await granted(stores.store, { account, application_id, scope, resource, choice })).grant;
      const first = await grant(mail, 'read', { choice: acme });
      await grant(mail, 'read', { resource: notes, choice: acme });
      await grant(mail, 'read write', { resource: files, choice: renamed });
      await grant(mail, 'read', { resource: notes });
      const only = await grant(chat, 'read');
      await stores.store.revokeGrant({
        ...(await grant(ended, 'read')),
        ...{ now: 7, initiator: anInitiator() },
      });
      await issued(stores.store, { account, application_id: ended });
      await granted(stores.store, { application_id: ended });

      const found = await stores.other.listConnections(account.id);
      const expected = [
        {
          application_id: mail,
          scopes: ['read', 'read write'],
          resources: [files, notes],
          choices: [acme, renamed],
          connected_at: first.created_at,
          last_used_at: null,
        },
        {
          application_id: chat,
          scopes: ['read'],
          resources: [],
          choices: [],
          connected_at: only.created_at,
          last_used_at: null,
        },
      ];
      expect(found).toHaveLength(2);
      const byLabel = (one: Choice, other: Choice) => one.label.localeCompare(other.label);
      for (const { scopes, resources, ...connection } of expected) {
        const own = found.find(
          ({ application_id }) => application_id === connection.application_id,
        );
        const sorted = {
          scopes: own?.scopes.toSorted(),
          resources: own?.resources.toSorted(),
          choices: own?.choices.toSorted(byLabel),
        };
        expect({ ...own, ...sorted }).toEqual({ ...connection, scopes, resources });
      }
      expect(await stores.other.listConnections(anId())).toEqual([]);
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
