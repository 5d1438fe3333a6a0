import type { Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aKey, anId, atOnce } from './records.ts';

const NOW = 1_700_000_000_000;
const LIMIT = { most: 50, now: NOW };

export function describeKeys(stores: SuiteStores): void {
  const onEmpty = (run: (store: Store, other: Store) => Promise<void>) =>
    stores.withFresh(async (database) => {
      const [store, other] = [await database.open(), await database.open()];
      await run(store, other).finally(() => Promise.all([store.close(), other.close()]));
    });

  describe('a key', () => {
    test('is created, found, listed with the newest first, and deleted for every process', () =>
      onEmpty(async (store, other) => {
        expect(await store.listKeys()).toEqual([]);
        const older = aKey({ role: 'read', expires_at: NOW + 1 });
        const newer = aKey();
        for (const key of [older, newer]) {
          expect(await store.createKey(key, LIMIT)).toBe('created');
        }
        expect(await other.listKeys()).toEqual([newer, older]);
        expect(await other.findKey(older.id)).toEqual(older);
        expect(await other.findKey(anId())).toBeNull();
        expect(await other.deleteKey(older.id)).toEqual(older);
        expect(await store.findKey(older.id)).toBeNull();
        expect(await store.deleteKey(older.id)).toBeNull();
        expect(await store.listKeys()).toEqual([newer]);
      }));

    test('has the latest time of its use, also of a race', () =>
      onEmpty(async (store, other) => {
        const [key, beside] = [aKey(), aKey()];
        for (const one of [key, beside]) await store.createKey(one, LIMIT);
        await atOnce(6, (index) =>
          (index % 2 === 0 ? store : other).noteKeyUse(key.id, NOW + ((index * 5) % 6)),
        );
        await store.noteKeyUse(anId(), NOW);
        await other.noteKeyUse(key.id, NOW);
        expect(await store.findKey(key.id)).toEqual({ ...key, last_used_at: NOW + 5 });
        expect(await other.findKey(beside.id)).toEqual(beside);
      }));

    test('that is deleted stays deleted, whatever is noted or created meanwhile', () =>
      onEmpty(async (store, other) => {
        const [key, rival] = [aKey(), aKey()];
        await store.createKey(key, LIMIT);
        await Promise.all([
          store.noteKeyUse(key.id, NOW),
          other.deleteKey(key.id),
          store.createKey(rival, LIMIT),
          other.noteKeyUse(key.id, NOW + 1),
        ]);
        expect(await store.listKeys()).toEqual([rival]);
      }));

    test('is one of at most so many live ones, in any race', () =>
      onEmpty(async (store, other) => {
        const expired = aKey({ expires_at: NOW });
        await store.createKey(expired, LIMIT);
        const few = { most: 4, now: NOW };
        const outcomes = await atOnce(8, (index) =>
          (index % 2 === 0 ? store : other).createKey(aKey(), few),
        );
        expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(4);
        expect(await store.createKey(aKey(), few)).toBe('key_limit_reached');
        const [newest] = await store.listKeys();
        const deleted = await atOnce(4, (index) =>
          (index % 2 === 0 ? store : other).deleteKey(newest?.id ?? ''),
        );
        expect(deleted.filter((found) => found !== null)).toHaveLength(1);
        expect(await other.createKey(aKey(), few)).toBe('created');
      }));

    test('that has expired is kept, unless 20 newer ones have', () =>
      onEmpty(async (store) => {
        const expired = Array.from({ length: 22 }, () => aKey({ expires_at: NOW }));
        for (const key of expired) await store.createKey(key, { most: 50, now: NOW - 1 });
        const live = aKey();
        await store.createKey(live, LIMIT);
        const kept = [...expired.slice(2), live];
        expect(await store.listKeys()).toEqual(kept.reverse());
      }));
  });
}
