import { isDeepStrictEqual } from 'node:util';
import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT } from '@latchkey/domain/lifetimes';
import { type AnyKind, indexesOf as indexesOfKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import {
  type CreateIndexesOptions,
  type Db,
  type IndexDescriptionInfo,
  MongoServerError,
} from 'mongodb';
import { EXPIRY_MARGIN } from './clocks.ts';
import { ConfigurationError } from './configuration-error.ts';

interface Index {
  name: string;
  key: Record<string, 1 | -1>;
  options: Pick<CreateIndexesOptions, 'expireAfterSeconds' | 'partialFilterExpression'>;
}

/** Of changes that are no deliveries yet. So no index grows with what was told. */
const marksOf = (collection: string): Index => ({
  name: `${collection}_to_tell`,
  key: { 'marks.at': 1 },
  options: { partialFilterExpression: { 'marks.at': { $exists: true } } },
});

/**
 * None is unique, so the collections can be sharded on hashed `_id`, which all requests use. The clock of the
 * database may be ahead, so it deletes a code late.
 */
const declaredOf = (kind: AnyKind, options?: { withOptional: boolean }): Index[] =>
  indexesOfKind(kind, options).map(
    ({ name, on, where: { set = [], unset = [] } = {}, expiresAfter }) => {
      // `null` means absent, which a partial index cannot say otherwise.
      const terms = [
        ...set.map((field) => [field, { $exists: true }] as const),
        ...unset.map((field) => [field, null] as const),
      ];
      return {
        name,
        key: Object.fromEntries(on.map((field) => [field === kind.key ? '_id' : field, 1])),
        options: {
          ...(terms.length > 0 && { partialFilterExpression: Object.fromEntries(terms) }),
          ...(expiresAfter !== undefined && {
            expireAfterSeconds: (expiresAfter + (kind === kinds.grants ? EXPIRY_MARGIN : 0)) / 1000,
          }),
        },
      };
    },
  );

/** What no declaration says. */
const byHand: Record<string, readonly Index[]> = {
  grants: [
    marksOf('grants'),
    {
      // The active grants. What has a bound on each field of a key is answered by the keys alone.
      name: 'active_by_account',
      key: { account_id: 1, application_id: 1, _id: 1, secret_hash: 1 },
      options: { partialFilterExpression: { secret_hash: { $exists: true } } },
    },
  ],
  applications: [marksOf('applications')],
  accounts: [marksOf('accounts')],
  deliveries: [
    {
      name: 'deliveries_pending',
      key: { created_at: 1 },
      options: { partialFilterExpression: { due_at: { $exists: true } } },
    },
  ],
};

const ofKind = (kind: AnyKind, options?: { withOptional: boolean }): readonly Index[] => [
  ...declaredOf(kind, options),
  ...(byHand[kind.name] ?? []),
];

const expiring = (name: string, field: string, kept: Milliseconds): Index => ({
  ...{ name, key: { [field]: 1 }, options: { expireAfterSeconds: kept / 1000 } },
});

export interface IndexOptions {
  reducesRevoked?: boolean;
}

export function indexesOf({ reducesRevoked = false }: IndexOptions = {}) {
  const all: Record<string, readonly Index[]> = {
    hour_counts: [expiring('count_expiry', 'hour', COUNTS_KEPT)],
    rate_limit_counts: [expiring('window_end', 'ends_at', 0)],
  };
  for (const kind of Object.values<AnyKind>(kinds)) {
    const indexes = ofKind(kind, { withOptional: reducesRevoked });
    if (indexes.length > 0) all[kind.name] = indexes;
  }
  return all;
}

export interface MissingIndexes {
  collection: string;
  exists: boolean;
  indexes: readonly Index[];
}

export interface IndexFindings {
  missing: MissingIndexes[];
  conflicts: string[];
}

export async function inspectIndexes(
  db: Db,
  maxTimeMS: number,
  options: IndexOptions = {},
): Promise<IndexFindings> {
  const all = indexesOf(options);
  const collections = Object.keys(all);
  const findings = await Promise.all(
    collections.map(async (collection) => {
      const present = await listIndexes(db, collection, maxTimeMS);
      const wanted = all[collection] ?? [];
      const conflicts = wanted.flatMap((index) => conflictOf(collection, index, present ?? []));
      const names = new Set(present?.map(({ name }) => name));
      const indexes = wanted.filter(({ name }) => !names.has(name));
      return { collection, exists: present !== null, indexes, conflicts };
    }),
  );
  return {
    missing: findings.filter(({ indexes }) => indexes.length > 0),
    conflicts: findings.flatMap(({ conflicts }) => conflicts),
  };
}

export function createIndexesText({ collection, indexes }: MissingIndexes): string {
  const calls = indexes.map(({ name, key, options }) => {
    const words = [key, { name, ...options }, 'majority'].map((word) => JSON.stringify(word));
    return `db.${collection}.createIndex(${words.join(', ')})`;
  });
  return calls.join('; ');
}

async function listIndexes(
  db: Db,
  collection: string,
  maxTimeMS: number,
): Promise<IndexDescriptionInfo[] | null> {
  try {
    return await db.collection(collection).indexes({ maxTimeMS });
  } catch (error) {
    const isNew = error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND;
    if (isNew) return null;
    throw error;
  }
}

const NAMESPACE_NOT_FOUND = 26;

function conflictOf(
  collection: string,
  wanted: Index,
  present: readonly IndexDescriptionInfo[],
): string[] {
  const rival = present.find(({ name }) => name === wanted.name) ?? present.find(isTwin(wanted));
  if (rival === undefined || isSame(wanted, rival)) return [];
  return [
    `the index '${rival.name}' of the collection ${collection} stands where '${wanted.name}' belongs, and is not the same: drop it with db.${collection}.dropIndex('${rival.name}'), and start again`,
  ];
}

/** MongoDB allows one index for a key and a filter, whatever its name. */
function isTwin({ key, options }: Index): (other: IndexDescriptionInfo) => boolean {
  return (other) =>
    hasSameKey(other.key, key) &&
    isDeepStrictEqual(other.partialFilterExpression, options.partialFilterExpression) &&
    !other.unique &&
    !other.sparse &&
    other.collation === undefined;
}

function isSame(wanted: Index, present: IndexDescriptionInfo): boolean {
  return (
    present.name === wanted.name &&
    hasSameKey(present.key, wanted.key) &&
    present.expireAfterSeconds === wanted.options.expireAfterSeconds &&
    isDeepStrictEqual(present.partialFilterExpression, wanted.options.partialFilterExpression) &&
    !present.unique
  );
}

function hasSameKey(one: object, other: object): boolean {
  // As entries, since the order of the fields matters.
  return isDeepStrictEqual(Object.entries(one), Object.entries(other));
}

export async function refuseNew(db: Db, maxTimeMS: number): Promise<void> {
  const { missing } = await inspectIndexes(db, maxTimeMS);
  const collections = Object.keys(indexesOf({}));
  if (missing.filter(({ exists }) => !exists).length < collections.length) return;
  throw new Error(
    `There is no database ${db.databaseName} of Latchkey on this server. Check DATABASE_URL; \`latchkey serve\` creates a database.`,
  );
}

export function refuseConflicts({ conflicts: [conflict] }: IndexFindings): void {
  if (conflict !== undefined) throw new ConfigurationError(conflict);
}
