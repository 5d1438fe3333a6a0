import { describe, expect, test } from 'vitest';
import { abuses, unharmed } from '../../../benchmarks/races/abuse.ts';
import { startLatchkey } from '../../../benchmarks/races/latchkey.ts';
import { race } from '../../../benchmarks/races/race.ts';
import type { Store } from '../src/store/store.ts';
import { describeOnEachStore, type FreshDatabase, sqliteDatabase } from './http/databases.ts';
import { longer } from './long.ts';

// What `npm run bench:races` shows of Latchkey beside other servers, by the same code.

const codes = longer(10, 100);
const redeemers = 8;

/** Runs a test with a server on an empty database. */
async function withLatchkey(
  options: { fresh: FreshDatabase; latency: number; changed?: (store: Store) => Store },
  test: (latchkey: Awaited<ReturnType<typeof startLatchkey>>) => Promise<void>,
): Promise<void> {
  const { fresh, ...rest } = options;
  const database = await fresh();
  const latchkey = await startLatchkey({ databaseUrl: database.url, ...rest });
  try {
    await test(latchkey);
  } finally {
    await latchkey.close();
    await database.remove();
  }
}

describeOnEachStore('a code that is raced for and abused', (fresh) => {
  test.each([0, 2])('is redeemed once, and harmed by nobody, at %i ms a call', async (latency) => {
    await withLatchkey({ fresh, latency }, async (latchkey) => {
      expect(await race(latchkey, { codes, redeemers })).toEqual({
        once: codes,
        moreThanOnce: 0,
        noWinner: 0,
        usable: codes,
      });
      for (const abuse of abuses) {
        const count = await unharmed(latchkey, abuse, { codes: longer(2, 10) });
        expect({ abuse: abuse.title, count }).toEqual({ abuse: abuse.title, count: longer(2, 10) });
      }
    });
  });
});

/** A store with another redemption. */
const redeemingBy = (redeemCode: (store: Store) => Store['redeemCode']) => (store: Store) =>
  new Proxy(store, {
    get: (target, name) => (name === 'redeemCode' ? redeemCode(store) : Reflect.get(target, name)),
  });

describe('the race and the abuse notice', { timeout: 30_000 }, () => {
  test('a store that looks first and then writes', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const found = await store.findCode(redemption.grant_id);
      if (found === null || found.exchanged) return null;
      await store.redeemCode(redemption);
      return store.findGrant(redemption.grant_id);
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 2, changed }, async (latchkey) => {
      const { moreThanOnce } = await race(latchkey, { codes: 10, redeemers });
      expect(moreThanOnce).toBeGreaterThan(0);
    });
  });

  test('a store that burns a code asked for by another application, and revokes on a replay', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const { grant_id, now } = redemption;
      const grant = await store.redeemCode(redemption);
      if (grant === null) {
        await store.cancelCode(grant_id);
        await store.revokeGrant({ grant_id, application_id: null, now });
      }
      return grant;
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 0, changed }, async (latchkey) => {
      const counts: number[] = [];
      for (const abuse of abuses) counts.push(await unharmed(latchkey, abuse, { codes: 1 }));
      // A wrong secret and none don't get as far as to the store.
      expect(counts).toEqual([1, 0, 1, 1, 0, 0]);
    });
  });
});
