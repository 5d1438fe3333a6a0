import type { GrantHistory } from '@latchkey/store/records';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import {
  aCode,
  anId,
  anInitiator,
  atOnce,
  granted,
  issued,
  newCode,
  present,
  recoveryOf,
  redemptionOf,
} from './records.ts';

export function describeHistory(stores: SuiteStores): void {
  const historyOf = (grant_id: string) => stores.other.findGrantHistory(grant_id);

  describe('the history of a grant', () => {
    test('has the time and the initiator of each change', async () => {
      const issue = anInitiator({ by: 'operator', secret_id: null });
      const code = aCode();
      const { grant_id, application_id, account } = code;
      expect(await historyOf(grant_id)).toBeNull();
      await stores.store.putAccount(account);
      await stores.store.issueCode({ ...newCode(code), initiator: issue });
      const expected: GrantHistory = {
        grant_id,
        application_id,
        account_id: account.id,
        issued_by: issue,
        created_at: null,
        redeemed_by: null,
        recoveries: 0,
        recovered_at: null,
        recovered_by: null,
        first_used_at: null,
        first_used_by: null,
        revoked_at: null,
        revoked_by: null,
        revoked_reason: null,
      };
      expect(await historyOf(grant_id)).toStrictEqual(expected);

      const redeemed_by = anInitiator();
      const redemption = redemptionOf(code, { initiator: redeemed_by });
      const grant = await stores.store.redeemCode(redemption);
      if (grant === null) throw new Error('A good code was not redeemed.');
      Object.assign(expected, { created_at: redemption.now, redeemed_by });
      expect(await historyOf(grant_id)).toStrictEqual(expected);

      let { secret_hash } = redemption;
      for (const recoveries of [1, 2]) {
        const recovered_by = anInitiator();
        const recovered_at = redemption.now + recoveries;
        const recovery = recoveryOf(grant, { now: recovered_at, initiator: recovered_by });
        await stores.store.recoverGrant(recovery);
        secret_hash = recovery.secret_hash;
        Object.assign(expected, { recoveries, recovered_at, recovered_by });
        expect(await historyOf(grant_id)).toStrictEqual(expected);
      }

      const first_used_by = anInitiator({ by: 'grant', secret_id: null });
      const use = { grant_id, secret_hash, now: redemption.now + 5 };
      await stores.store.noteUse({ ...use, initiator: first_used_by });
      await stores.store.noteUse({ ...use, now: use.now + 1, initiator: anInitiator() });
      Object.assign(expected, { first_used_at: use.now, first_used_by });
      expect(await historyOf(grant_id)).toStrictEqual(expected);

      const revoked_by = anInitiator({ by: 'command_line', secret_id: null });
      const revocation = { grant_id, application_id, now: redemption.now + 9 };
      await stores.store.revokeGrant({ ...revocation, initiator: revoked_by });
      await stores.store.revokeGrant({ ...revocation, now: 1, initiator: anInitiator() });
      Object.assign(expected, { revoked_at: revocation.now, revoked_by });
      expect(await historyOf(grant_id)).toStrictEqual(expected);
    });

    test('says that a grant ended by itself', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id, application_id, created_at } = grant;
      const idle = { grant_id, application_id, onlyActive: true, now: 9_000, initiator: null };
      const end = (unused_before: number) =>
        stores.store.revokeGrant({ ...idle, unused_before, reason: 'idle' });
      expect(await end(created_at)).toBeNull();
      const used = { grant_id, secret_hash, now: created_at + 5, initiator: anInitiator() };
      await stores.other.noteUse(used);
      expect(await end(used.now)).toBeNull();
      expect(await historyOf(grant_id)).toMatchObject({ revoked_at: null, revoked_reason: null });
      expect(await end(used.now + 1)).toMatchObject({ grant_id, revoked_at: 9_000 });
      const ended = { revoked_at: 9_000, revoked_by: null, revoked_reason: 'idle' };
      expect(await historyOf(grant_id)).toMatchObject(ended);
      expect(await end(Number.MAX_SAFE_INTEGER)).toBeNull();
      await stores.store.revokeGrant({ ...grant, now: 10_000, initiator: anInitiator() });
      expect(await historyOf(grant_id)).toMatchObject(ended);
    });

    test('does not change with refused calls', async () => {
      const { code, grant } = await granted(stores.store);
      const { grant_id } = grant;
      const before = await historyOf(grant_id);
      const initiator = anInitiator();
      const [now, application_id] = [Date.now(), anId()];
      await stores.store.redeemCode(redemptionOf(code, { initiator }));
      await stores.store.recoverGrant(recoveryOf(grant, { application_id, initiator }));
      await stores.store.revokeGrant({ grant_id, application_id, now, initiator });
      const use = { grant_id, secret_hash: new Uint8Array(32), now, initiator };
      await stores.store.noteUse(use);
      expect(await historyOf(grant_id)).toStrictEqual(before);
    });

    test('names the one of several concurrent calls that made the change', async () => {
      const code = await issued(stores.store);
      const { grant_id, application_id } = code;
      const redemptions = await atOnce(16, async (turn) => {
        const redemption = redemptionOf(code, { initiator: anInitiator() });
        const grant = await stores.handle(turn).redeemCode(redemption);
        return grant && redemption;
      });
      const [winner] = present(redemptions);
      const revocations = await atOnce(16, async (turn) => {
        const revocation = {
          grant_id,
          application_id,
          now: 1_000 + turn,
          initiator: anInitiator(),
        };
        await stores.handle(turn).revokeGrant(revocation);
        return revocation;
      });
      const history = await historyOf(grant_id);
      expect(history?.redeemed_by).toEqual(winner?.initiator);
      const first = revocations.find(({ now }) => now === history?.revoked_at);
      expect(history?.revoked_by).toEqual(first?.initiator);
    });
  });
}
