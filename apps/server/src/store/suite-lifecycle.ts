import { describe, expect, test } from 'vitest';
import type { Store } from './store.ts';
import type { SuiteStores } from './suite-harness.ts';
import {
  aCode,
  aHash,
  anAccount,
  anApplication,
  anId,
  aRefusal,
  aSecret,
  atOnce,
  issued,
  redemptionOf,
} from './suite-records.ts';

/** A call of each method, but for close. */
const calls: {
  [Method in Exclude<keyof Store, 'isLocal' | 'close'>]: (store: Store) => Promise<unknown>;
} = {
  createApplication: (store) => store.createApplication(anApplication()),
  findApplication: (store) => store.findApplication(anId()),
  listApplications: (store) => store.listApplications({ limit: 1, before: null }),
  addSecret: (store) => store.addSecret(anId(), aSecret(), { most: 5, now: 0 }),
  removeSecret: (store) => store.removeSecret(anId(), anId()),
  setApplicationDisabled: (store) => store.setApplicationDisabled(anId(), true),
  noteSecretUse: (store) => store.noteSecretUse(anId(), anId(), 0),
  putAccount: (store) => store.putAccount(anAccount()),
  findAccount: (store) => store.findAccount(anId()),
  issueCode: (store) => store.issueCode(aCode()),
  cancelCode: (store) => store.cancelCode(anId()),
  redeemCode: (store) => store.redeemCode(redemptionOf(aCode())),
  findCode: (store) => store.findCode(anId()),
  revokeGrant: (store) => store.revokeGrant({ grant_id: anId(), application_id: null, now: 0 }),
  recoverGrant: (store) =>
    store.recoverGrant({
      grant_id: anId(),
      application_id: anId(),
      secret_hash: aHash(),
      exchanged_after: 0,
      now: 0,
    }),
  findGrant: (store) => store.findGrant(anId()),
  findGrantHistory: (store) => store.findGrantHistory(anId()),
  authenticateGrant: (store) => store.authenticateGrant(anId(), { currentAccount: true }),
  noteFirstUse: (store) => store.noteFirstUse({ grant_id: anId(), secret_hash: aHash(), now: 0 }),
  listGrants: (store) => store.listGrants({ account_id: anId() }, { limit: 1, before: null }),
  keepRefusals: (store) => store.keepRefusals([aRefusal()]),
  findRefusals: (store) => store.findRefusals({ grant_id: anId() }, 1),
  addToCount: (store) => store.addToCount({ key: anId(), points: 1, now: 0, duration: 1 }),
  ping: (store) => store.ping(),
};

export function describeLifecycle(stores: SuiteStores): void {
  describe('the store itself', () => {
    test('answers a ping', async () => {
      expect(await stores.store.ping()).toBeUndefined();
    });

    test('lets what runs finish when it is closed', async () => {
      const codes = await atOnce(50, () => issued(stores.store));
      const closed = await stores.database.open();
      const running = Promise.all(codes.map((code) => closed.redeemCode(redemptionOf(code))));
      await closed.close();
      for (const grant of await running) {
        expect(grant).not.toBeNull();
        expect(await stores.store.findGrant(grant?.grant_id ?? '')).toEqual(grant);
      }
    });

    test('refuses every call once it is closed, and closing again is harmless', async () => {
      const closed = await stores.database.open();
      await closed.close();
      for (const [method, call] of Object.entries(calls)) {
        // Named, so that a failure tells which method it was.
        const refusal = await call(closed).then(
          () => 'answered',
          (error) => error.code,
        );
        expect({ method, refusal }).toEqual({ method, refusal: 'store_unavailable' });
      }
      await closed.close();
      await stores.store.ping();
    });
  });
}
