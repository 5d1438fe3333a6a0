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
import { Client } from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';
import { waiting } from '../postgresql-harness.ts';

describeOnPostgresql('a connection that is lost', (server) => {
  let url: string;
  let relay: Relay;
  let store: Store;
  /** Around the relay. */
  let witness: Store;
  beforeEach(async () => {
    url = await createDatabase(server);
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

  // Late, it would bring back what was unpinned since, or end what was pinned since.
  test('sends a pin once, and its end too', async () => {
    const document_uri = 'https://client.example/client.json';
    const pin = () => store.pinDocument({ document_uri, document: '{}', kept_at: 1 }, { most: 9 });
    const unpin = () => store.unpinDocument(document_uri);
    for (const [call, words] of [
      [pin, 'INSERT INTO kept_documents'],
      [unpin, 'DELETE FROM kept_documents'],
    ] as const) {
      const lost = relay.lose('late', words);
      expect(await call().catch(({ code }) => code)).toBe('outcome_unknown');
      await lost;
      await call();
    }
  });

  // Then whoever looks for the outcome waits behind it.
  test('while its statement waits for a lock loses no redemption', async () => {
    const code = await issued(witness);
    const holder = await new Client(url).connect();
    await holder.query('BEGIN; SELECT FROM grants FOR UPDATE');
    const redeeming = store.redeemCode(redemptionOf(code));
    await waiting(url, 1);
    relay.cut();
    await waiting(url, 2);
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await redeeming).toMatchObject({ grant_id: code.grant_id });
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
