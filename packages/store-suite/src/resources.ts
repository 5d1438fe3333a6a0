import type { Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anId, aResource, atOnce } from './records.ts';

const MOST = { most: 200 };

export function describeResources(stores: SuiteStores): void {
  const onEmpty = (run: (store: Store, other: Store) => Promise<void>) =>
    stores.withFresh(async (database) => {
      const [store, other] = [await database.open(), await database.open()];
      await run(store, other).finally(() => Promise.all([store.close(), other.close()]));
    });

  describe('a resource', () => {
    test('is created, listed by its address, changed and deleted', () =>
      onEmpty(async (store, other) => {
        expect(await store.listResources()).toEqual([]);
        const [b, a, c] = ['https://b.example/a', 'https://B', 'https://b.example/~'].map(
          (resource) => aResource({ resource }),
        ) as [
          ReturnType<typeof aResource>,
          ReturnType<typeof aResource>,
          ReturnType<typeof aResource>,
        ];
        for (const resource of [b, a, c]) {
          expect(await store.createResource(resource, MOST)).toBe('created');
        }
        expect(await other.listResources()).toEqual([a, b, c]);
        expect(await other.listResources({ mayBeStale: true })).toHaveLength(3);

        const open = { name: 'All', scopes: null, default_scopes: null };
        expect(await other.updateResource(b.id, open)).toEqual({ ...b, ...open });
        expect(await store.updateResource(b.id, {})).toEqual({ ...b, ...open });
        expect(await store.listResources()).toEqual([a, { ...b, ...open }, c]);
        expect(await store.updateResource(anId(), open)).toBe('resource_not_found');

        expect(await store.deleteResource(b.id)).toEqual({ ...b, ...open });
        expect(await other.deleteResource(b.id)).toBeNull();
        expect(await other.updateResource(b.id, open)).toBe('resource_not_found');
        expect(await other.listResources()).toEqual([a, c]);
        const again = aResource({ resource: b.resource });
        expect(await other.createResource(again, MOST)).toBe('created');
        expect(await store.listResources()).toEqual([a, again, c]);
      }));

    test('has another generation once a scope is taken away, and only then', () =>
      onEmpty(async (store) => {
        const { id, ...resource } = aResource({ scopes: null, default_scopes: null });
        await store.createResource({ id, ...resource }, MOST);
        const generations: number[] = [];
        for (const changes of [
          { scopes: ['a', 'b'] },
          { scopes: ['b', 'a', 'c'], name: 'x' },
          { default_scopes: ['c'] },
          { default_scopes: null },
          { scopes: ['a', 'c'] },
          { scopes: ['a', 'b', 'c'] },
          { scopes: null },
        ]) {
          const changed = await store.updateResource(id, changes);
          expect(changed).toMatchObject(changes);
          generations.push((changed as typeof resource).generation);
        }
        expect(generations).toEqual([1, 1, 1, 1, 2, 2, 2]);
      }));

    test('keeps its default within its scopes', () =>
      onEmpty(async (store) => {
        const resource = aResource({ scopes: ['a', 'b'], default_scopes: ['b'] });
        await store.createResource(resource, MOST);
        for (const changes of [{ scopes: ['a'] }, { default_scopes: ['a', 'c'] }]) {
          const refused = await store.updateResource(resource.id, { name: 'x', ...changes });
          expect(refused).toBe('default_scopes_outside');
        }
        expect(await store.listResources()).toEqual([resource]);
      }));

    test('has an address of its own, and there are no more than there may be, in any race', () =>
      onEmpty(async (store, other) => {
        const resources = Array.from({ length: 6 }, () => aResource());
        const outcomes = await atOnce(12, (index) => {
          const { id, ...members } = resources[index % 6] as ReturnType<typeof aResource>;
          const handle = index % 2 === 0 ? store : other;
          return handle.createResource({ ...members, id: index < 6 ? id : anId() }, { most: 4 });
        });
        expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(4);
        const listed = await store.listResources();
        expect(new Set(listed.map(({ resource }) => resource)).size).toBe(4);
        const kept = listed[0] as ReturnType<typeof aResource>;
        const twin = aResource({ resource: kept.resource });
        // Whatever the limit is.
        expect(await other.createResource(twin, { most: 1 })).toBe('resource_exists');
        expect(await other.createResource(aResource(), { most: 4 })).toBe('resource_limit_reached');
        const deleted = await atOnce(4, (index) =>
          (index % 2 === 0 ? store : other).deleteResource(kept.id),
        );
        expect(deleted.filter((found) => found !== null)).toHaveLength(1);
        expect(await store.createResource(twin, { most: 4 })).toBe('created');
      }));

    test('is changed by every one of several calls at once', () =>
      onEmpty(async (store, other) => {
        const resources = Array.from({ length: 4 }, () => aResource());
        for (const resource of resources) await store.createResource(resource, MOST);
        await atOnce(8, (index) =>
          (index % 2 === 0 ? store : other).updateResource(
            (resources[index % 4] as ReturnType<typeof aResource>).id,
            index < 4 ? { name: `name ${index}` } : { scopes: null },
          ),
        );
        const expected = resources.map((resource, index) => ({
          ...resource,
          name: `name ${index}`,
          scopes: null,
        }));
        expect(await other.listResources()).toEqual(
          expected.sort((a, b) => (a.resource < b.resource ? -1 : 1)),
        );
      }));
  });
}
