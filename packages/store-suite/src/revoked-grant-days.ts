import { describe, expect, test } from 'vitest';
import { erase } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import {
  anInitiator,
  atOnce,
  type Granted,
  granted,
  recoveryOf,
  redemptionOf,
  revokedRecord,
} from './records.ts';

const DAY = 86_400_000;

export function describeRevokedGrantDays(stores: SuiteStores): void {
  describe('the details of a revoked grant', () => {
    test('are gone after so many days, and a revocation returns the same for ever', () =>
      stores.withFresh(async (database) => {
        const store = await database.open();
        const now = Date.now();
        const everything = async ({ grant: { grant_id } }: Granted) => [
          await store.authenticateGrant(grant_id, { currentAccount: false }),
          await store.findGrantHistory(grant_id),
          await store.findCode(grant_id),
        ];
        const revokedAgo = async (age: number) => {
          const initiator = anInitiator();
          const one = await granted(store);
          await store.recoverGrant(
            recoveryOf(one.grant, { secret_hash: one.secret_hash, initiator }),
          );
          const { grant_id } = one.grant;
          await store.noteUse({ grant_id, secret_hash: one.secret_hash, now, initiator });
          await store.revokeGrant({ ...one.grant, now: now - age, initiator });
          return one;
        };
        const [old, recent] = [await revokedAgo(30 * DAY), await revokedAgo(30 * DAY - 1)];
        const active = await granted(store);
        const kept = [recent, active];
        const before = await Promise.all(kept.map(everything));

        await database.reduceRevoked(30, now);
        await database.reduceRevoked(30, now);

        expect(await Promise.all(kept.map(everything))).toEqual(before);
        const { grant_id, application_id, account, created_at } = old.grant;
        const revoked_at = now - 30 * DAY;
        const revoke = (owner: string | null) =>
          store.revokeGrant({ grant_id, application_id: owner, now, initiator: anInitiator() });
        const revoked = revokedRecord(old.grant, revoked_at);
        expect(await revoke(application_id)).toEqual(revoked);
        expect(await revoke(null)).toEqual(revoked);
        expect(await revoke(active.grant.application_id)).toBeNull();
        // As for a code that expired long ago.
        expect(await store.findCode(grant_id)).toBeNull();
        expect(await store.redeemCode(redemptionOf(old.code))).toBeNull();
        expect(await store.recoverGrant(recoveryOf(old.grant))).toBeNull();
        expect(await everything(old)).toEqual([
          {
            grant: {
              grant_id,
              application_id,
              resource: null,
              scope: '',
              choice: null,
              created_at,
              last_used_at: null,
              revoked_at,
            },
            secret_hash: null,
            first_used_at: null,
            application_disabled: null,
            application_public: null,
            document_uri: null,
            idle_days: null,
            enabled_at: null,
            account: null,
            external_id: null,
          },
          {
            ...{ grant_id, application_id, account_id: null, created_at, revoked_at },
            ...{ issued_by: null, redeemed_by: null, recovered_by: null, first_used_by: null },
            ...{ revoked_by: null, recovered_at: null, first_used_at: null },
            revoked_reason: null,
            recoveries: expect.any(Number),
          },
          null,
        ]);
        const members = await database.membersOf('grants', grant_id);
        // The revision of MongoDB and the recoveries of SQLite may stay: they name nobody.
        const named = members.filter(
          (name) => !['id', '_id', 'revision', 'recoveries'].includes(name),
        );
        expect(named.sort()).toEqual(['application_id', 'created_at', 'revoked_at']);
        expect(await database.membersOf('grants', active.grant.grant_id)).toContain(
          'code_challenge',
        );
        const range = { limit: 9, before: null };
        expect(await store.listGrants({ account_id: account.id }, range)).toEqual([]);
        expect(await store.listGrants({ application_id }, range)).toEqual([]);
        // An erasure has nothing left to take from it.
        const left = await everything(old);
        expect(await erase(store, { account_id: account.id, now, initiator: anInitiator() })).toBe(
          0,
        );
        expect(await everything(old)).toEqual(left);
        await store.close();
      }));

    test('go in several batches', () =>
      stores.withFresh(async (database) => {
        const store = await database.open();
        const ids: string[] = [];
        // 1,001 of them, but not at once: that many connections a pool does not have.
        for (let round = 0; round < 11; round += 1) {
          const made = await atOnce(91, async () => {
            const { grant } = await granted(store);
            await store.revokeGrant({ ...grant, now: 0, initiator: anInitiator() });
            return grant.grant_id;
          });
          ids.push(...made);
        }
        await database.reduceRevoked(1, DAY);
        while (ids.length > 0) {
          const some = ids.splice(0, 91).map((grant_id) => store.findGrantHistory(grant_id));
          const left = await Promise.all(some);
          expect(left.filter((history) => history?.account_id !== null)).toEqual([]);
        }
        await store.close();
      }));
  });
}
