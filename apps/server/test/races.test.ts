import { longer, slow } from '@latchkey/test-kit/long';
import { abuses, countUnharmed } from '@latchkey/test-kit/races/abuse';
import type { Contender } from '@latchkey/test-kit/races/contender';
import { latchkeyContender } from '@latchkey/test-kit/races/latchkey';
import { withLatency } from '@latchkey/test-kit/races/latency';
import { race } from '@latchkey/test-kit/races/race';
import { describe, expect, test } from 'vitest';
import type { Store } from '../src/store/store.ts';
import { describeOnEachStore, type FreshDatabase, sqliteDatabase } from './http/databases.ts';
import { ADMIN_SECRET, startTestServer } from './http/running-server.ts';
import { anInitiator, grantOf } from './store/suite/records.ts';

// `npm run bench:races` runs the same code against Latchkey and other servers.

const codes = longer(10, 100);
const redeemers = 8;

/** Runs a test with a server on an empty database. */
async function withLatchkey(
  options: { fresh: FreshDatabase; latency: number; changed?: (store: Store) => Store },
  test: (latchkey: Contender) => Promise<void>,
): Promise<void> {
  const { fresh, latency, changed = (store) => store } = options;
  const database = await fresh();
  const { service, url, close } = await startTestServer(database.url);
  // Must run before the first request: each request takes the store from the service.
  service.store = changed(withLatency(service.store, latency));
  try {
    await test({ ...(await latchkeyContender(url, ADMIN_SECRET)), close });
  } finally {
    await close();
    await database.remove();
  }
}

describeOnEachStore('a code under races and abuse', (fresh) => {
  test.each([0, 2])(
    'is redeemed once and survives every abuse, with %i ms latency per call',
    slow,
    async (latency) => {
      await withLatchkey({ fresh, latency }, async (latchkey) => {
        expect(await race(latchkey, { codes, redeemers })).toEqual({
          once: codes,
          moreThanOnce: 0,
          never: 0,
          usable: codes,
        });
        for (const abuse of abuses) {
          const count = await countUnharmed(latchkey, abuse, { codes: longer(2, 10) });
          expect({ abuse: abuse.title, count }).toEqual({
            abuse: abuse.title,
            count: longer(2, 10),
          });
        }
      });
    },
  );
});

/** Replaces the redemption of a store. */
const redeemingBy = (redeemCode: (store: Store) => Store['redeemCode']) => (store: Store) =>
  new Proxy(store, {
    get: (target, name) => (name === 'redeemCode' ? redeemCode(store) : Reflect.get(target, name)),
  });

describe('the race and the abuse detect', () => {
  test('a store that reads first and then writes', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const found = await store.findCode(redemption.grant_id);
      if (found === null || found.redeemed) return null;
      await store.redeemCode(redemption);
      return grantOf(store, redemption.grant_id);
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 2, changed }, async (latchkey) => {
      const { moreThanOnce } = await race(latchkey, { codes: 10, redeemers });
      expect(moreThanOnce).toBeGreaterThan(0);
    });
  });

  test('a store that cancels the code for another application and revokes the grant on a replay', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const { grant_id, now } = redemption;
      const grant = await store.redeemCode(redemption);
      if (grant === null) {
        await store.cancelCode(grant_id);
        await store.revokeGrant({ grant_id, application_id: null, now, initiator: anInitiator() });
      }
      return grant;
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 0, changed }, async (latchkey) => {
      const counts: number[] = [];
      for (const abuse of abuses) counts.push(await countUnharmed(latchkey, abuse, { codes: 1 }));
      // Calls without a valid secret do not reach the redemption. A code without a challenge is refused.
      expect(counts).toEqual([1, 0, 0, 0, 1, 1, 1, 0, 0]);
    });
  });

  test('a store that does not look at the verifier when it writes', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const state = await store.findCode(redemption.grant_id);
      const code_challenge = state?.code_challenge ?? null;
      return store.redeemCode({ ...redemption, code_challenge });
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 0, changed }, async (latchkey) => {
      const counts: [string, number][] = [];
      for (const abuse of abuses) {
        counts.push([abuse.title, await countUnharmed(latchkey, abuse, { codes: 1 })]);
      }
      expect(counts.filter(([, count]) => count === 0).map(([title]) => title)).toEqual([
        'a wrong verifier first',
        'a verifier, but the challenge was removed',
      ]);
    });
  });
});
