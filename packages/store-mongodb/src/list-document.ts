import type { ReadOptions } from '@latchkey/store/store';
import type { Collection } from 'mongodb';
import type { Collections, Database } from './database.ts';
import { ALL, type ListDocument, type ListFormat } from './documents/list-document.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

/** What becomes of the list, and the result of the call. */
export interface Changed<Record, Result> {
  list: Record[];
  result: Result;
  isMade(list: readonly Record[]): boolean;
}

/** One document has all records, so nothing can come between the check of a change and its write. */
export function listDocument<Record, Item>(
  database: Database,
  { collection, toItem, fromItem }: ListFormat<Record, Item>,
) {
  type Document = ListDocument<Item>;
  const collectionOf = (collections: Pick<Collections, typeof collection>) =>
    collections[collection] as unknown as Collection<Document>;
  const find = () =>
    database.decide((collections) => collectionOf(collections).findOne(ALL, collections.decisive));

  return {
    async read({ mayBeStale = false }: ReadOptions = {}): Promise<Record[]> {
      const document = mayBeStale
        ? await database.read((collections) =>
            collectionOf(collections).findOne(ALL, collections.plain),
          )
        : await find();
      return document?.list.map(fromItem) ?? [];
    },

    change<Result, Refusal extends string>(
      after: (list: Record[]) => Changed<Record, Result> | Refusal,
    ): Promise<Result | Refusal> {
      return retryOnConflict<Document, Result | Refusal>(
        async () => (await find()) ?? { ...ALL, list: [] },
        async (revision, found) => {
          const changed = after(found.list.map(fromItem));
          if (typeof changed === 'string') return changed;
          const isReplaced = await replaceAtRevision<Document>(
            database,
            collectionOf,
            revision,
            { ...ALL, list: changed.list.map(toItem) },
            (later) => changed.isMade(later.list.map(fromItem)),
          );
          return isReplaced && changed.result;
        },
      ) as Promise<Result | Refusal>;
    },
  };
}
