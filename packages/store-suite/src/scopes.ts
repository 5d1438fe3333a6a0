import type { Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aScope, atOnce } from './records.ts';

const MOST = { most: 200 };

export function describeScopes(stores: SuiteStores): void {
  const onEmpty = (run: (store: Store, other: Store) => Promise<void>) =>
    stores.withFresh(async (database) => {
      const [store, other] = [await database.open(), await database.open()];
      await run(store, other).finally(() => Promise.all([store.close(), other.close()]));
    });

  describe('the description of a scope', () => {
    test('is put, replaced as a whole, listed by name and deleted', () =>
      onEmpty(async (store, other) => {
        expect(await store.listScopes()).toEqual([]);
        expect(await store.listScopeNames()).toEqual([]);
        const [b, a, c] = ['posts:read', 'POSTS:read', '~/api#v1'].map((scope) =>
          aScope({ scope }),
        );
        for (const scope of [b, a, c]) {
          expect(await store.putScope(scope as never, MOST)).toBe('put');
        }
        expect(await other.listScopes()).toEqual([a, b, c]);
        expect(await other.listScopeNames()).toEqual(['POSTS:read', 'posts:read', '~/api#v1']);

        const about = { title: 'x', description: null, texts: {}, sensitive: true };
        const replaced = aScope({ scope: 'posts:read', ...about });
        expect(await other.putScope(replaced, MOST)).toBe('put');
        expect(await store.listScopes()).toEqual([a, replaced, c]);

        expect(await store.deleteScope('posts:read')).toEqual(replaced);
        expect(await other.listScopes()).toEqual([a, c]);
        expect(await other.listScopeNames()).toEqual([a?.scope, c?.scope]);
        expect(await other.deleteScope('posts:read')).toBeNull();
        expect(await store.putScope(b as never, MOST)).toBe('put');
        expect(await other.listScopes()).toEqual([a, b, c]);
      }));

    test('has an id, which a replacement keeps, and which does not come back after a deletion', () =>
      onEmpty(async (store, other) => {
        const [one, two] = [aScope(), aScope()];
        const names = [two.scope, 'undescribed', one.scope];
        for (const scope of [one, two]) await store.putScope(scope, MOST);
        const ids = await other.findDescriptionIds(names);
        expect(ids).toEqual([expect.any(String), null, expect.any(String)]);
        expect(ids[0]).not.toBe(ids[2]);

        await other.putScope({ ...one, title: 'x' }, MOST);
        expect(await store.findDescriptionIds(names)).toEqual(ids);
        await other.putScope({ ...one, sensitive: true }, MOST);
        for (const mayBeStale of [false, true]) {
          const plain = await store.findDescriptionIds(names, { mayBeStale, withSensitive: false });
          expect(plain).toEqual([ids[0], null, null]);
        }
        await other.deleteScope(one.scope);
        expect(await store.findDescriptionIds(names)).toEqual([ids[0], null, null]);
        await other.putScope(one, MOST);
        const [first, , again] = await store.findDescriptionIds(names, { mayBeStale: true });
        expect(first).toBe(ids[0]);
        expect([null, ...ids]).not.toContain(again);
      }));

    test('is refused if there are as many as there may be, unless it replaces one', () =>
      onEmpty(async (store, other) => {
        const [one, two, three] = [aScope(), aScope(), aScope()];
        const limit = { most: 2 };
        await store.putScope(one, limit);
        await store.putScope(two, limit);
        expect(await other.putScope(three, limit)).toBe('scope_limit_reached');
        expect(await other.putScope({ ...one, title: 'x' }, limit)).toBe('put');
        expect(await store.listScopes()).toHaveLength(2);
        await store.deleteScope(one.scope);
        expect(await other.putScope(three, limit)).toBe('put');
      }));

    test('of puts and deletions at once is what one of them made it', () =>
      onEmpty(async (store, other) => {
        const scope = 'posts:read';
        const titles = Array.from({ length: 8 }, (_, number) => `title ${number}`);
        await atOnce(titles.length, async (index) => {
          const handle = index % 2 === 0 ? store : other;
          await handle.putScope(aScope({ scope, title: titles[index] as string }), MOST);
          if (index % 3 === 0) await handle.deleteScope(scope);
        });
        await store.putScope(aScope({ scope, title: 'last' }), MOST);
        expect((await other.listScopes()).map(({ title }) => title)).toEqual(['last']);
        const deleted = await atOnce(6, (index) =>
          (index % 2 === 0 ? store : other).deleteScope(scope),
        );
        expect(deleted.filter((found) => found !== null)).toHaveLength(1);
      }));
  });
}
