import { isDeepStrictEqual } from 'node:util';
import {
  type Collection,
  type CreateIndexesOptions,
  type Document,
  type IndexDescriptionInfo,
  MongoServerError,
} from 'mongodb';
import { PermanentFault } from './faults.ts';

interface Index {
  name: string;
  key: Record<string, 1 | -1>;
  options: Pick<CreateIndexesOptions, 'expireAfterSeconds' | 'partialFilterExpression'>;
}

/**
 * Everything that requests do is by `_id`. None of these is unique, so that the collections can be
 * sharded by the hash of `_id`.
 */
export const grantIndexes: readonly Index[] = [
  {
    // Deletes codes that nobody exchanged, within a minute or two of their expiry. Grants have no
    // such field and would not expire either way; partial, the index has no entries for them.
    name: 'pending_expiry',
    key: { code_expires_at: 1 },
    options: {
      expireAfterSeconds: 0,
      partialFilterExpression: { code_expires_at: { $exists: true } },
    },
  },
  {
    name: 'exchanged_by_account',
    key: { account_id: 1, _id: -1 },
    options: { partialFilterExpression: { created_at: { $exists: true } } },
  },
  {
    name: 'exchanged_by_application',
    key: { application_id: 1, _id: -1 },
    options: { partialFilterExpression: { created_at: { $exists: true } } },
  },
];

/** None is unique here either. */
export const refusalIndexes: readonly Index[] = [
  { name: 'refusal_expiry', key: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  { name: 'refusals_by_request', key: { request_id: 1, _id: -1 }, options: {} },
  { name: 'refusals_by_grant', key: { grant_id: 1, _id: -1 }, options: {} },
];

export const rateLimitIndexes: readonly Index[] = [
  { name: 'window_end', key: { ends_at: 1 }, options: { expireAfterSeconds: 0 } },
];

/**
 * Makes the indexes of a collection that are missing and checks those that are there.
 *
 * @throws PermanentFault where there is another index in the place of one of them
 */
export async function prepareIndexes<T extends Document>(
  collection: Collection<T>,
  indexes: readonly Index[],
): Promise<void> {
  const { collectionName } = collection;
  for (const { name, key, options } of indexes) {
    try {
      // Does nothing where the index is there already.
      await collection.createIndex(key, { name, ...options });
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new PermanentFault(
        `an index of the collection ${collectionName} stands in the way of '${name}' (${error.message}): drop it, with db.${collectionName}.dropIndex, and start again`,
        error,
      );
    }
  }
  // The server refuses another index under the same name; what only speaks its protocol may say
  // that all is well. So what there is in the end is compared.
  const present = new Map((await collection.indexes()).map((index) => [index.name, index]));
  for (const index of indexes) {
    if (isSame(index, present.get(index.name))) continue;
    throw new PermanentFault(
      `the index '${index.name}' of the collection ${collectionName} is not as it should be: drop it, with db.${collectionName}.dropIndex('${index.name}'), and start again`,
    );
  }
}

/** IndexAlreadyExists, IndexOptionsConflict and IndexKeySpecsConflict. */
function isConflict(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && [68, 85, 86].includes(Number(error.code));
}

function isSame(wanted: Index, present: IndexDescriptionInfo | undefined): boolean {
  return (
    present !== undefined &&
    // The order of the fields matters, which deep equality would not see.
    isDeepStrictEqual(Object.entries(present.key), Object.entries(wanted.key)) &&
    present.expireAfterSeconds === wanted.options.expireAfterSeconds &&
    isDeepStrictEqual(present.partialFilterExpression, wanted.options.partialFilterExpression) &&
    !present.unique
  );
}
