import { uuidV7Time } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import {
  aHash,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  atOnce,
  authenticated,
  granted,
  grantOf,
  issued,
  present,
  recoveryOf,
  redemptionOf,
  revokedRecord,
  withoutAccount,
} from './records.ts';

const ROUNDS = 50;

export function describeGrants(stores: SuiteStores): void {
  const find = (grant_id: string) => authenticated(stores.other, grant_id);

  describe('revoking a grant', () => {
    test('forgets its secret, keeps the rest, and is final', async () => {
      const { code, grant, secret_hash } = await granted(stores.store);
      const { grant_id, application_id } = grant;
      const now = grant.created_at + 5;
      const revoked = { ...grant, revoked_at: now };
      expect(
        await stores.store.revokeGrant({ grant_id, application_id, now, initiator: anInitiator() }),
      ).toEqual(revokedRecord(grant, now));

      expect(await grantOf(stores.other, grant_id)).toEqual(revoked);
      expect(await find(grant_id)).toMatchObject({ grant: revoked, secret_hash: null });
      expect(
        await stores.store.noteUse({ grant_id, secret_hash, now, initiator: anInitiator() }),
      ).toBe(false);
      expect(await stores.store.recoverGrant(recoveryOf(grant))).toBeNull();
      expect(await stores.store.redeemCode(redemptionOf(code))).toBeNull();
      // A replay of the code is still recognised.
      expect(await stores.store.findCode(grant_id)).toMatchObject({
        code_hash: code.code_hash,
        redeemed: true,
      });
      expect(await find(grant_id)).toMatchObject({ grant: revoked, secret_hash: null });
    });

    test('again returns it as it was first revoked', async () => {
      const { grant } = await granted(stores.store);
      const { grant_id, application_id, created_at } = grant;
      const revoked = revokedRecord(grant, created_at + 1);
      for (const [owner, later] of [
        [application_id, 1],
        [application_id, 2],
        [null, 3],
        [application_id, 0],
      ] as const) {
        const now = created_at + later;
        const revocation = { grant_id, application_id: owner, now };
        expect(await stores.store.revokeGrant({ ...revocation, initiator: anInitiator() })).toEqual(
          revoked,
        );
      }
    });

    test('by several calls at once: all get the same result', async () => {
      const { grant } = await granted(stores.store);
      const results = await atOnce(16, (turn) =>
        stores
          .handle(turn)
          .revokeGrant({ ...grant, now: grant.created_at + turn, initiator: anInitiator() }),
      );
      const stored = await grantOf(stores.store, grant.grant_id);
      expect(stored?.revoked_at).not.toBeNull();
      const revoked = stored && revokedRecord(stored, stored.revoked_at ?? 0);
      for (const result of results) expect(result).toEqual(revoked);
    });

    test('only if it is active: one of several calls receives it, also in one millisecond', async () => {
      const { grant } = await granted(stores.store);
      const { grant_id, application_id, created_at } = grant;
      const revocation = { grant_id, application_id, onlyActive: true, now: created_at + 1 };
      const results = await atOnce(16, (turn) =>
        stores.handle(turn).revokeGrant({ ...revocation, initiator: anInitiator() }),
      );
      const revoked = revokedRecord(grant, created_at + 1);
      expect(present(results)).toEqual([revoked]);
      expect(
        await stores.store.revokeGrant({
          ...revocation,
          now: created_at + 2,
          initiator: anInitiator(),
        }),
      ).toBeNull();
      expect(
        await stores.store.revokeGrant({
          ...revocation,
          onlyActive: false,
          initiator: anInitiator(),
        }),
      ).toEqual(revoked);
    });

    test('is refused to another application, whatever the state of the grant', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      const theirs = { grant_id, application_id: anId(), now: Date.now() };
      expect(await stores.store.revokeGrant({ ...theirs, initiator: anInitiator() })).toBeNull();
      expect(await find(grant_id)).toMatchObject({ grant, secret_hash });
      await stores.store.revokeGrant({ ...theirs, application_id: null, initiator: anInitiator() });
      expect(await stores.store.revokeGrant({ ...theirs, initiator: anInitiator() })).toBeNull();
    });

    test('that does not exist returns null', async () => {
      const revocation = { grant_id: anId(), application_id: null, now: Date.now() };
      expect(
        await stores.store.revokeGrant({ ...revocation, initiator: anInitiator() }),
      ).toBeNull();
      expect(await grantOf(stores.store, revocation.grant_id)).toBeNull();
    });

    test('during the redemption: the code is spent, and the grant is what the calls returned', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const code = await issued(stores.store);
        const { grant_id, application_id } = code;
        const redemption = redemptionOf(code);
        const redeem = () => stores.handle(round).redeemCode(redemption);
        const revoke = () =>
          stores.handle(round + 1).revokeGrant({
            grant_id,
            application_id,
            now: redemption.now,
            initiator: anInitiator(),
          });
        const [grant, revoked] =
          round % 4 < 2
            ? await Promise.all([redeem(), revoke()])
            : (await Promise.all([revoke(), redeem()])).toReversed();

        expect(grant).toMatchObject({ created_at: redemption.now });
        // The revocation either came first and found no grant, or found this one.
        expect(await find(grant_id)).toMatchObject(
          revoked
            ? { grant: revoked, secret_hash: null }
            : { grant, secret_hash: redemption.secret_hash },
        );
      }
    });

    test('during a recovery: the grant ends revoked, without a secret', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { grant } = await granted(stores.store);
        await Promise.all([
          stores.handle(round).recoverGrant(recoveryOf(grant)),
          stores
            .handle(round + 1)
            .revokeGrant({ ...grant, now: grant.created_at, initiator: anInitiator() }),
        ]);
        expect(await find(grant.grant_id)).toMatchObject({
          grant: { ...grant, revoked_at: grant.created_at },
          secret_hash: null,
        });
      }
    });
  });

  describe('recovering a grant', () => {
    test('replaces the secret and nothing else, and may be repeated', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      for (let round = 0; round < 3; round++) {
        const recovery = recoveryOf(grant);
        expect(await stores.store.recoverGrant(recovery)).toEqual(grant);
        expect(await find(grant_id)).toMatchObject({
          grant,
          secret_hash: recovery.secret_hash,
          first_used_at: null,
        });
      }
      expect(
        await stores.store.noteUse({
          grant_id,
          secret_hash,
          now: 1,
          initiator: anInitiator(),
        }),
      ).toBe(false);
    });

    test('by several calls at once: each gets the grant, which has the secret of one of them', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { grant } = await granted(stores.store);
        const recoveries = Array.from({ length: 4 }, () => recoveryOf(grant));
        const recovered = await Promise.all(
          recoveries.map((recovery, turn) => stores.handle(turn).recoverGrant(recovery)),
        );
        expect(recovered).toEqual(Array(4).fill(grant));
        const found = await find(grant.grant_id);
        expect(recoveries.map(({ secret_hash }) => secret_hash)).toContainEqual(found?.secret_hash);
      }
    });

    test('requires a redemption later than the given time', async () => {
      const { grant } = await granted(stores.store);
      const refused = recoveryOf(grant, { redeemed_after: grant.created_at });
      expect(await stores.store.recoverGrant(refused)).toBeNull();
      const accepted = recoveryOf(grant, { redeemed_after: grant.created_at - 1 });
      expect(await stores.store.recoverGrant(accepted)).toEqual(grant);
    });

    test('is refused, with nothing changed, to another application', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const theirs = recoveryOf(grant, { application_id: anId() });
      expect(await stores.store.recoverGrant(theirs)).toBeNull();
      expect(await find(grant.grant_id)).toMatchObject({ grant, secret_hash });
    });

    test('is refused, with nothing changed, once the secret was used', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      await stores.store.noteUse({
        grant_id,
        secret_hash,
        now: grant.created_at,
        initiator: anInitiator(),
      });
      expect(await stores.other.recoverGrant(recoveryOf(grant))).toBeNull();
      const used = { ...grant, last_used_at: grant.created_at };
      expect(await find(grant_id)).toMatchObject({ grant: used, secret_hash });
    });

    test('that does not exist returns null', async () => {
      const { grant } = await granted(stores.store);
      const recovery = recoveryOf(grant, { grant_id: anId() });
      expect(await stores.store.recoverGrant(recovery)).toBeNull();
      expect(await grantOf(stores.store, recovery.grant_id)).toBeNull();
    });

    test('during the first use of the old secret: exactly one of the two succeeds', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { grant, secret_hash } = await granted(stores.store);
        const { grant_id } = grant;
        const recovery = recoveryOf(grant);
        const recover = () => stores.handle(round).recoverGrant(recovery);
        const use = () =>
          stores
            .handle(round + 1)
            .noteUse({ grant_id, secret_hash, now: 9_000, initiator: anInitiator() });
        const [recovered, used] =
          round % 4 < 2
            ? await Promise.all([recover(), use()])
            : await Promise.all([use(), recover()]).then(([first, second]) => [second, first]);

        expect(recovered !== null).toBe(!used);
        expect(await find(grant_id)).toMatchObject(
          used
            ? { secret_hash, first_used_at: 9_000 }
            : { secret_hash: recovery.secret_hash, first_used_at: null },
        );
      }
    });
  });

  describe('the first use of a grant', () => {
    test('is noted once and stays', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      for (const now of [5_000, 4_000, 6_000]) {
        expect(
          await stores.store.noteUse({ grant_id, secret_hash, now, initiator: anInitiator() }),
        ).toBe(true);
        expect((await find(grant_id))?.first_used_at).toBe(5_000);
      }
    });

    test('is also the last one, until a later one is noted', async () => {
      const { code, grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      expect(grant.last_used_at).toBeNull();
      for (const [now, last] of [
        [5_000, 5_000],
        [4_000, 5_000],
        [6_000, 6_000],
      ] as const) {
        await stores.store.noteUse({ grant_id, secret_hash, now, initiator: anInitiator() });
        const used = { ...grant, last_used_at: last };
        expect(await grantOf(stores.other, grant_id)).toEqual(used);
        const account_id = code.account.id;
        const range = { limit: 9, before: null };
        expect(await stores.other.listGrants({ account_id }, range)).toEqual([used]);
        const { application_id } = code;
        const { account: _, ...connected } = used;
        expect(await stores.other.listActiveGrants({ account_id, application_id }, range)).toEqual([
          connected,
        ]);
      }
      await Promise.all(
        [9_000, 7_000, 8_000].map((now, turn) =>
          stores.handle(turn).noteUse({ grant_id, secret_hash, now, initiator: anInitiator() }),
        ),
      );
      expect((await grantOf(stores.other, grant_id))?.last_used_at).toBe(9_000);
    });

    test('is not noted for another secret, before or after', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      const wrong = { grant_id, secret_hash: aHash(), now: 5_000 };
      expect(await stores.store.noteUse({ ...wrong, initiator: anInitiator() })).toBe(false);
      expect((await find(grant_id))?.first_used_at).toBeNull();
      await stores.store.noteUse({
        grant_id,
        secret_hash,
        now: 6_000,
        initiator: anInitiator(),
      });
      expect(await stores.store.noteUse({ ...wrong, initiator: anInitiator() })).toBe(false);
      expect((await find(grant_id))?.first_used_at).toBe(6_000);
      expect(
        await stores.store.noteUse({ ...wrong, grant_id: anId(), initiator: anInitiator() }),
      ).toBe(false);
    });

    test('by several calls at once: all succeed, one time is noted', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const { grant_id } = grant;
      const results = await atOnce(16, (turn) =>
        stores
          .handle(turn)
          .noteUse({ grant_id, secret_hash, now: 1_000 + turn, initiator: anInitiator() }),
      );
      expect(results).toEqual(Array(16).fill(true));
      const noted = (await find(grant_id))?.first_used_at;
      expect(noted).toBeGreaterThanOrEqual(1_000);
      expect(noted).toBeLessThan(1_016);
    });

    test('is refused after a revocation, even if the grant was used before', async () => {
      const { grant, secret_hash } = await granted(stores.store);
      const use = { grant_id: grant.grant_id, secret_hash, now: grant.created_at };
      expect(await stores.store.noteUse({ ...use, initiator: anInitiator() })).toBe(true);
      await stores.other.revokeGrant({ ...grant, now: grant.created_at, initiator: anInitiator() });
      expect(await stores.store.noteUse({ ...use, initiator: anInitiator() })).toBe(false);
    });
  });

  describe('authenticating a grant', () => {
    test('reads grant, secret, application and account, exactly', async () => {
      const application = anApplication({ public: true, idle_days: 30, enabled_at: 7_000 });
      const account = anAccount();
      await stores.store.createApplication(application);
      await stores.store.putAccount(account);
      const { grant, secret_hash } = await granted(stores.store, {
        application_id: application.id,
        account,
      });
      expect(
        await stores.other.authenticateGrant(grant.grant_id, { currentAccount: true }),
      ).toEqual({
        grant: withoutAccount(grant),
        secret_hash,
        first_used_at: null,
        application_disabled: false,
        application_public: true,
        document_uri: null,
        idle_days: 30,
        enabled_at: 7_000,
        account,
        external_id: null,
      });
    });

    test('gives the current account, or the one of the issue', async () => {
      const account = anAccount();
      const put = { ...account, external_id: 'former' };
      const { grant } = await granted(stores.store, { account: put });
      const renamed = { ...account, username: 'renamed', verified: true };
      await stores.store.putAccount({ ...renamed, external_id: 'latter' });
      const found = await stores.other.authenticateGrant(grant.grant_id, { currentAccount: true });
      expect(found?.account).toEqual(renamed);
      const atIssue = await find(grant.grant_id);
      expect(atIssue?.account).toEqual(account);
      expect([found?.external_id, atIssue?.external_id]).toEqual(['latter', 'latter']);
    });

    test('sees at once that the application is disabled or enabled', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const { grant } = await granted(stores.store, { application_id: application.id });
      for (const disabled of [true, false]) {
        await stores.store.setApplicationDisabled(application.id, disabled, 0);
        const found = await find(grant.grant_id);
        expect(found).toMatchObject({ grant, application_disabled: disabled });
      }
    });

    test('sees that the application does not exist', async () => {
      const { grant } = await granted(stores.store);
      expect(await find(grant.grant_id)).toMatchObject({
        ...{ grant, application_disabled: null, application_public: null },
        ...{ idle_days: null, enabled_at: null },
      });
    });

    test('has the time of the newest code beside it', () =>
      stores.withFresh(async (database) => {
        const store = await database.open();
        expect(await store.newestGrantTime()).toBeNull();
        await granted(store);
        const { grant_id } = await issued(store);
        expect(await store.newestGrantTime()).toBe(uuidV7Time(grant_id));
        await store.close();
      }));

    test('that does not exist returns null', async () => {
      expect(await find(anId())).toBeNull();
    });
  });
}
