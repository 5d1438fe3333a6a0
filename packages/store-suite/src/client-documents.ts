import type { KeptDocument } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aKeptDocument, atOnce } from './records.ts';

const MOST = { most: 100 };
const HOUR = 3_600_000;
const ALL = { limit: 100, after: null };

export function describeClientDocuments(stores: SuiteStores): void {
  const onEmpty = (run: (store: Store, other: Store) => Promise<void>) =>
    stores.withFresh(async (database) => {
      const [store, other] = [await database.open(), await database.open()];
      await run(store, other).finally(() => Promise.all([store.close(), other.close()]));
    });

  describe('a client document', () => {
    test('is kept, found on every process and ended', () =>
      onEmpty(async (store, other) => {
        const kept = aKeptDocument();
        const find = () => other.findKeptDocument(kept.document_uri);
        expect(await find()).toBeNull();
        await store.keepDocument(kept);
        expect(await find()).toEqual(kept);
        await other.endKeptDocument(kept.document_uri);
        expect(await find()).toBeNull();
        await other.endKeptDocument(kept.document_uri);
      }));

    test('is replaced by what was fetched later, by the same one once an hour', () =>
      onEmpty(async (store) => {
        const first = aKeptDocument();
        const later = (after: number, members: Partial<KeptDocument> = {}) => ({
          ...first,
          ...{ kept_at: first.kept_at + after, kept_until: (first.kept_until ?? 0) + after },
          ...members,
        });
        const other = { document: '{}' };
        for (const [fetched, expected] of [
          [first, first],
          [later(HOUR - 1), first],
          [later(-1, other), first],
          [later(HOUR), later(HOUR)],
          [later(HOUR + 1, other), later(HOUR + 1, other)],
        ] as const) {
          await store.keepDocument(fetched);
          expect(await store.findKeptDocument(first.document_uri)).toEqual(expected);
        }
      }));

    test('that is pinned stays until it is unpinned, whatever is fetched', () =>
      onEmpty(async (store, other) => {
        const fetched = aKeptDocument();
        const { document_uri } = fetched;
        await store.keepDocument(fetched);
        const pin = { document_uri, document: '{"a":1}', kept_at: fetched.kept_at - 1 };
        expect(await store.pinDocument(pin, MOST)).toBe('pinned');
        const pinned = { ...pin, kept_until: null };
        await other.keepDocument({ ...fetched, kept_at: fetched.kept_at + 2 * HOUR });
        await other.endKeptDocument(document_uri);
        expect(await other.findKeptDocument(document_uri)).toEqual(pinned);
        expect(await other.listPinned()).toEqual([document_uri]);

        const again = { ...pin, document: '{"a":2}' };
        await other.pinDocument(again, MOST);
        expect(await store.unpinDocument(document_uri)).toEqual({ ...again, kept_until: null });
        expect(await other.unpinDocument(document_uri)).toBeNull();
        expect(await other.findKeptDocument(document_uri)).toBeNull();
        expect(await other.listPinned()).toEqual([]);
        // Not pinned, so it is not unpinned.
        await store.keepDocument(fetched);
        expect(await other.unpinDocument(document_uri)).toBeNull();
        expect(await other.findKeptDocument(document_uri)).toEqual(fetched);
      }));

    test('is pinned in a place of its own, unless there are as many as there may be', () =>
      onEmpty(async (store, other) => {
        const [one, two] = [aKeptDocument(), aKeptDocument()];
        await store.keepDocument(two);
        expect(await store.pinDocument(one, { most: 1 })).toBe('pinned');
        expect(await other.pinDocument(two, { most: 1 })).toBe('document_limit_reached');
        expect(await other.pinDocument({ ...one, document: '{}' }, { most: 1 })).toBe('pinned');
        await store.unpinDocument(one.document_uri);
        expect(await other.pinDocument(two, { most: 1 })).toBe('pinned');
      }));

    test('is listed by its address, in parts, until it is over', () =>
      onEmpty(async (store, other) => {
        const now = Date.now();
        const of = (path: string, members: Partial<KeptDocument> = {}) =>
          aKeptDocument({ document_uri: `https://client.example/${path}`, ...members });
        const over = of('b', { kept_until: now });
        const [d, a, B, c] = [of('d'), of('a'), of('B'), of('c')];
        for (const kept of [d, B, over]) await store.keepDocument(kept);
        for (const pin of [a, c]) await store.pinDocument(pin, MOST);
        const list = async (range: object = {}, pinned?: boolean) =>
          (await other.listKeptDocuments({ ...ALL, ...range }, { now, pinned })).map(
            ({ document_uri }) => document_uri.slice(-1),
          );
        expect(await list()).toEqual(['B', 'a', 'c', 'd']);
        expect(await list({ limit: 2 })).toEqual(['B', 'a']);
        expect(await list({ limit: 2, after: a.document_uri })).toEqual(['c', 'd']);
        expect(await list({}, true)).toEqual(['a', 'c']);
        expect(await list({ limit: 1, after: B.document_uri }, false)).toEqual(['d']);
        const [first] = await store.listKeptDocuments(ALL, { now, pinned: true });
        expect(first).toEqual({ ...a, kept_until: null });
      }));

    test('is one, whatever is done with it at once', () =>
      onEmpty(async (store, other) => {
        const fetched = aKeptDocument();
        await atOnce<unknown>(12, (index) => {
          const handle = index % 2 === 0 ? store : other;
          const document = { ...fetched, document: `{"a":${index}}`, kept_at: index };
          return index % 3 === 0
            ? handle.pinDocument(document, MOST)
            : handle.keepDocument(document);
        });
        const listed = await store.listKeptDocuments(ALL, { now: 0 });
        expect(listed.map(({ kept_until }) => kept_until)).toEqual([null]);
        const unpinned = await atOnce(4, (index) =>
          (index % 2 === 0 ? store : other).unpinDocument(fetched.document_uri),
        );
        expect(unpinned.filter((found) => found !== null)).toHaveLength(1);
      }));
  });
}
