import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import {
  aCode,
  aHash,
  anAccount,
  anId,
  anInitiator,
  atOnce,
  authenticated,
  granted,
  grantOf,
  issued,
  present,
  redeemed,
  redemptionOf,
} from './records.ts';

const ROUNDS = 50;

export function describeCodes(stores: SuiteStores): void {
  describe('a pending code', () => {
    test('is known as not redeemed', async () => {
      const { grant_id, application_id, code_hash } = await issued(stores.store);
      const state = { application_id, code_hash, redeemed: false };
      expect(await stores.other.findCode(grant_id)).toMatchObject(state);
    });

    test('is not a grant', async () => {
      const code = await issued(stores.store);
      const { grant_id, application_id, account, code_hash } = code;
      const now = Date.now();
      const range = { limit: 10, before: null };

      expect(await grantOf(stores.store, grant_id)).toBeNull();
      expect(await stores.store.authenticateGrant(grant_id, { currentAccount: true })).toBeNull();
      expect(await stores.store.listGrants({ application_id }, range)).toEqual([]);
      expect(await stores.store.listGrants({ account_id: account.id }, range)).toEqual([]);
      expect(
        await stores.store.revokeGrant({ grant_id, application_id, now, initiator: anInitiator() }),
      ).toBeNull();
      expect(
        await stores.store.revokeGrant({
          grant_id,
          application_id: null,
          now,
          initiator: anInitiator(),
        }),
      ).toBeNull();
      const recovery = { grant_id, application_id, secret_hash: aHash(), redeemed_after: 0, now };
      expect(await stores.store.recoverGrant({ ...recovery, initiator: anInitiator() })).toBeNull();
      expect(
        await stores.store.noteUse({
          grant_id,
          secret_hash: code_hash,
          now,
          initiator: anInitiator(),
        }),
      ).toBe(false);

      // None of this prevents its redemption.
      expect(await stores.store.redeemCode(redemptionOf(code))).not.toBeNull();
    });

    test('that was never issued is unknown', async () => {
      expect(await stores.store.findCode(anId())).toBeNull();
      expect(await stores.store.cancelCode(anId())).toBeNull();
      expect(await stores.store.redeemCode(redemptionOf(aCode()))).toBeNull();
    });
  });

  describe('counting pending codes', () => {
    test('leaves out those that are expired, cancelled or redeemed, and ends at its limit', async () => {
      // Later than any code of the other tests, which share the database.
      const now = Date.now() + 365 * 86_400_000;
      const count = (limit: number) => stores.other.countPendingCodes({ now, limit });
      const later = { code_expires_at: now + 1 };
      expect(await count(10)).toBe(0);

      const code = await issued(stores.store, later);
      const cancelled = await issued(stores.store, later);
      await issued(stores.store, later);
      await issued(stores.store, { code_expires_at: now });
      expect(await count(10)).toBe(3);
      expect(await count(2)).toBe(2);

      await redeemed(stores.store, code);
      await stores.store.cancelCode(cancelled.grant_id);
      expect(await count(10)).toBe(1);
    });
  });

  describe('redeeming a code', () => {
    test('makes an active grant with the account as it was at issue', async () => {
      const account = anAccount({ twitter: 'ada' });
      await stores.store.putAccount(account);
      const code = await issued(stores.store, { account });
      await stores.store.putAccount(anAccount({ id: account.id, username: 'renamed' }));
      const redemption = redemptionOf(code);
      const grant = {
        grant_id: code.grant_id,
        application_id: code.application_id,
        resource: code.resource,
        scope: code.scope,
        choice: code.choice,
        account,
        created_at: redemption.now,
        last_used_at: null,
        revoked_at: null,
      };
      expect(await stores.store.redeemCode(redemption)).toEqual(grant);

      expect(await grantOf(stores.other, code.grant_id)).toEqual(grant);
      expect(await stores.other.findCode(code.grant_id)).toMatchObject({
        code_hash: code.code_hash,
        redeemed: true,
      });
      const found = await authenticated(stores.other, code.grant_id);
      expect(found).toMatchObject({
        grant,
        secret_hash: redemption.secret_hash,
        first_used_at: null,
      });
    });

    test('works once; a replay changes nothing', async () => {
      const { code, grant, secret_hash } = await granted(stores.store);
      expect(await stores.store.redeemCode(redemptionOf(code))).toBeNull();
      expect(await stores.other.redeemCode(redemptionOf(code, { secret_hash }))).toBeNull();
      const found = await authenticated(stores.store, code.grant_id);
      expect(found).toMatchObject({ grant, secret_hash });
    });

    test('is refused from the millisecond of the expiry on, not before', async () => {
      // The expiry is in the future, so no housekeeping deletes the record.
      const code = await issued(stores.store);
      for (const late of [0, 1, 86_400_000]) {
        const now = code.code_expires_at + late;
        expect(await stores.store.redeemCode(redemptionOf(code, { now }))).toBeNull();
      }
      const last = redemptionOf(code, { now: code.code_expires_at - 1 });
      expect(await stores.store.redeemCode(last)).not.toBeNull();
    });

    test('is refused if its application was disabled since, and not for an earlier disabling', async () => {
      for (const [generation, disabled_generation] of [
        [0, 1],
        [1, 2],
      ] as const) {
        const code = await issued(stores.store, { generation });
        expect(await stores.other.findCode(code.grant_id)).toMatchObject({ generation });
        const redemption = redemptionOf(code, { disabled_generation });
        expect(await stores.store.redeemCode(redemption)).toBeNull();
        const earlier = redemptionOf(code, { disabled_generation: generation });
        expect(await stores.other.redeemCode(earlier)).not.toBeNull();
      }
    });

    test.each<[string, () => Partial<ReturnType<typeof redemptionOf>>]>([
      ['another application', () => ({ application_id: anId() })],
      ['another hash', () => ({ code_hash: aHash() })],
      ['a hash cut short', () => ({ code_hash: new Uint8Array(0) })],
      ['another code', () => ({ grant_id: anId() })],
    ])('with %s is refused and leaves the code usable', async (_, wrong) => {
      const code = await issued(stores.store);
      expect(await stores.store.redeemCode(redemptionOf(code, wrong()))).toBeNull();
      expect((await stores.store.findCode(code.grant_id))?.redeemed).toBe(false);
      expect(await stores.other.redeemCode(redemptionOf(code))).not.toBeNull();
    });

    test('does not touch other codes of the same account and application', async () => {
      const { account, application_id } = aCode();
      const codes = await atOnce(10, () => issued(stores.store, { account, application_id }));
      const [first, second, ...rest] = codes;
      const { grant } = await redeemed(stores.store, first ?? aCode());
      await stores.store.cancelCode(second?.grant_id ?? '');
      await stores.store.revokeGrant({ ...grant, now: Date.now(), initiator: anInitiator() });
      for (const code of rest) {
        expect((await stores.store.findCode(code.grant_id))?.redeemed).toBe(false);
        await redeemed(stores.store, code);
      }
      const range = { limit: 20, before: null };
      const listed = await stores.store.listGrants({ account_id: account.id }, range);
      expect(listed.filter(({ revoked_at }) => revoked_at === null)).toHaveLength(8);
      expect(listed).toHaveLength(9);
    });
  });

  describe('cancelling a code', () => {
    test('deletes it, and returns what it was', async () => {
      const code = await issued(stores.store);
      const { grant_id } = code;
      expect(await stores.store.cancelCode(grant_id)).toEqual(code);
      expect(await stores.other.findCode(grant_id)).toBeNull();
      expect(await stores.store.cancelCode(grant_id)).toBeNull();
      expect(await stores.store.redeemCode(redemptionOf(code))).toBeNull();
    });

    test('touches no grant, active or revoked', async () => {
      const { code, grant } = await granted(stores.store);
      expect(await stores.store.cancelCode(code.grant_id)).toBeNull();
      const revoked_at = grant.created_at + 1;
      await stores.store.revokeGrant({ ...grant, now: revoked_at, initiator: anInitiator() });
      expect(await stores.store.cancelCode(code.grant_id)).toBeNull();
      expect(await grantOf(stores.store, code.grant_id)).toEqual({ ...grant, revoked_at });
    });

    test('while it is redeemed: exactly one of the two succeeds', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const code = await issued(stores.store);
        const [one, two] = [stores.handle(round), stores.handle(round + 1)];
        const [grants, cancelled] = await Promise.all([
          atOnce(2, () => one.redeemCode(redemptionOf(code))),
          atOnce(2, () => two.cancelCode(code.grant_id)),
        ]);
        const won = present(grants);
        const gone = present(cancelled);
        expect(won.length + gone.length).toBe(1);
        expect(await grantOf(stores.store, code.grant_id)).toEqual(won[0] ?? null);
      }
    });
  });
}
