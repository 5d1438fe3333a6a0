import type { Store } from '@latchkey/store/store';
import {
  aCode,
  anAccount,
  anInitiator,
  authenticated,
  granted,
  issued,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { losses, Relay } from '@latchkey/test-kit/postgresql/relay';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { beforeEach, describe, expect, test } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';

describeOnPostgresql('a connection that is lost', (server) => {
  let relay: Relay;
  let store: Store;
  /** Around the relay. */
  let witness: Store;
  beforeEach(async () => {
    const url = await createDatabase(server);
    relay = await Relay.start(url);
    store = await openPostgresqlStore({ url: relay.urlOf(url), clock: Date.now });
    witness = await openPostgresqlStore({ url, clock: Date.now });
    return async () => {
      await Promise.all([store.close(), witness.close()]);
      await relay.stop();
      await dropDatabase(url);
    };
  });

  describe.each(losses)('%s the statement arrives', (how) => {
    test('loses no redemption, and makes it once', async () => {
      const code = await issued(witness);
      const redemption = redemptionOf(code);
      const lost = relay.lose(how, 'UPDATE grants');
      const grant = await store.redeemCode(redemption);
      await lost;
      relay.deliver();
      expect(grant).toMatchObject({ grant_id: code.grant_id });
      expect(await witness.redeemCode(redemptionOf(code))).toBeNull();
      const { secret_hash } = (await authenticated(witness, code.grant_id)) ?? {};
      expect(secret_hash).toEqual(redemption.secret_hash);
    });

    test('lets one of two redemptions win, which both know', async () => {
      const code = await issued(witness);
      const [own, rival] = [redemptionOf(code), redemptionOf(code)];
      const lost = relay.lose(how, 'UPDATE grants');
      const redeeming = store.redeemCode(own);
      await lost;
      const byRival = await witness.redeemCode(rival);
      relay.deliver();
      const byOwn = await redeeming;
      expect([byOwn, byRival].filter((grant) => grant !== null)).toHaveLength(1);
      const { secret_hash } = (await authenticated(witness, code.grant_id)) ?? {};
      expect(secret_hash).toEqual((byOwn ? own : rival).secret_hash);
    });

    test('loses no revocation', async () => {
      const { grant } = await granted(witness);
      const { grant_id } = grant;
      const revocation = { application_id: null, now: Date.now(), initiator: anInitiator() };
      const lost = relay.lose(how, 'UPDATE grants');
      const revoked = await store.revokeGrant({ grant_id, ...revocation });
      await lost;
      relay.deliver();
      expect(revoked).toMatchObject({ grant_id, revoked_at: revocation.now });
      expect(await witness.authenticateGrant(grant_id, { currentAccount: false })).toMatchObject({
        grant: { revoked_at: revocation.now },
      });
    });

    test('says of a new code that it was made, or that this is not known', async () => {
      const account = anAccount();
      await witness.putAccount(account);
      const code = newCode(aCode({ account }));
      const lost = relay.lose(how, 'INSERT INTO grants');
      const made = await store.issueCode(code).catch(({ code }) => code);
      await lost;
      if (how === 'after' || how === 'pooled')
        expect(made).toMatchObject({ grant_id: code.grant_id });
      else expect(made).toBe('outcome_unknown');
    });
  });

  test('holds up nobody for longer: the others have connections of their own', async () => {
    const [{ grant }, code] = [await granted(witness), await issued(witness)];
    const lost = relay.lose('before', 'UPDATE grants');
    const redeeming = store.redeemCode(redemptionOf(code));
    await lost;
    expect(await authenticated(store, grant.grant_id)).toBeTruthy();
    expect(await redeeming).not.toBeNull();
  });
});
