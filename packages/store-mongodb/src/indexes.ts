import { isDeepStrictEqual } from 'node:util';
import { COUNTS_KEPT, DELIVERIES_KEPT, LINKS_KEPT } from '@latchkey/domain/lifetimes';
import {
  type CreateIndexesOptions,
  type Db,
  type IndexDescriptionInfo,
  MongoServerError,
} from 'mongodb';
import { EXPIRY_MARGIN } from './clocks.ts';
import { ConfigurationError } from './configuration-error.ts';

export interface Index {
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

/** None is unique, so the collections can be sharded on hashed `_id`, which all requests use. */
export const grantIndexes: readonly Index[] = [
  {
    // By the clock of the database, which may be ahead.
    name: 'pending_expiry',
    key: { code_expires_at: 1 },
    options: {
      expireAfterSeconds: EXPIRY_MARGIN / 1000,
      partialFilterExpression: { code_expires_at: { $exists: true } },
    },
  },
  {
    name: 'grants_by_account',
    key: { account_id: 1, _id: -1 },
    options: { partialFilterExpression: { created_at: { $exists: true } } },
  },
  {
    name: 'grants_by_application',
    key: { application_id: 1, _id: -1 },
    options: {
      // What REVOKED_GRANT_DAYS reduced has no scope, and stays.
      partialFilterExpression: { created_at: { $exists: true }, scope: { $exists: true } },
    },
  },
  // What is active or pending, so that what was revoked costs nothing: see decision 56.
  {
    // `null` means absent, which a partial index cannot say otherwise.
    name: 'unrevoked_by_account',
    key: { account_id: 1, application_id: 1, _id: -1 },
    options: { partialFilterExpression: { revoked_at: null } },
  },
  {
    name: 'unrevoked_by_application',
    key: { application_id: 1, _id: -1 },
    options: { partialFilterExpression: { revoked_at: null } },
  },
  {
    name: 'codes_by_application',
    key: { application_id: 1, account_id: 1 },
    options: { partialFilterExpression: { code_expires_at: { $exists: true } } },
  },
  marksOf('grants'),
];

/** Only with REVOKED_GRANT_DAYS, since each revocation has to write to it. */
const revokedIndex: Index = {
  name: 'revoked_grants_with_details',
  key: { revoked_at: 1 },
  options: {
    partialFilterExpression: { revoked_at: { $exists: true }, account_id: { $exists: true } },
  },
};

const applicationIndexes: readonly Index[] = [
  {
    name: 'pending_deletions',
    key: { deletion_pending: 1 },
    options: { partialFilterExpression: { deletion_pending: { $exists: true } } },
  },
  marksOf('applications'),
];

const accountIndexes: readonly Index[] = [
  {
    name: 'accounts_by_place',
    key: { place: -1 },
    options: { partialFilterExpression: { place: { $exists: true } } },
  },
  {
    name: 'accounts_by_username',
    key: { username: 1, place: -1 },
    options: { partialFilterExpression: { place: { $exists: true } } },
  },
  {
    name: 'accounts_by_external_id',
    key: { external_id: 1, place: -1 },
    options: { partialFilterExpression: { external_id: { $exists: true } } },
  },
  marksOf('accounts'),
];

const endpointIndexes: readonly Index[] = [
  { name: 'endpoints_by_id', key: { 'endpoints.id': 1 }, options: {} },
];

/** What is to be tried. */
const due = { due_at: { $exists: true } };

const deliveryIndexes: readonly Index[] = [
  {
    name: 'deliveries_due',
    key: { endpoint_id: 1, due_at: 1 },
    options: { partialFilterExpression: due },
  },
  {
    name: 'deliveries_pending',
    key: { created_at: 1 },
    options: { partialFilterExpression: due },
  },
  { name: 'deliveries_by_endpoint', key: { endpoint_id: 1, status: 1, _id: -1 }, options: {} },
  {
    name: 'deliveries_by_grant',
    key: { grant_id: 1, _id: -1 },
    options: { partialFilterExpression: { grant_id: { $exists: true } } },
  },
  {
    // What an erasure takes the names from.
    name: 'deliveries_by_account',
    key: { account_id: 1 },
    options: { partialFilterExpression: { type: 'account.updated' } },
  },
  {
    name: 'delivery_expiry',
    key: { ended_at: 1 },
    options: { expireAfterSeconds: DELIVERIES_KEPT / 1000 },
  },
];

const linkIndexes: readonly Index[] = [
  {
    name: 'link_expiry',
    key: { expires_at: 1 },
    options: { expireAfterSeconds: LINKS_KEPT / 1000 },
  },
  {
    name: 'links_by_account',
    key: { account_id: 1 },
    options: { partialFilterExpression: { account_id: { $exists: true } } },
  },
];

const pageIndexes: readonly Index[] = [
  {
    name: 'page_expiry',
    key: { expires_at: 1 },
    options: { expireAfterSeconds: LINKS_KEPT / 1000 },
  },
  { name: 'pages_by_account', key: { account_id: 1 }, options: {} },
];

const refusalIndexes: readonly Index[] = [
  { name: 'refusal_expiry', key: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  { name: 'refusals_by_request', key: { request_id: 1, _id: -1 }, options: {} },
  { name: 'refusals_by_application', key: { application_id: 1, _id: -1 }, options: {} },
  { name: 'refusals_by_account', key: { account_id: 1, _id: -1 }, options: {} },
  { name: 'refusals_by_grant', key: { grant_id: 1, _id: -1 }, options: {} },
];

const countIndexes: readonly Index[] = [
  {
    name: 'count_expiry',
    key: { hour: 1 },
    options: { expireAfterSeconds: COUNTS_KEPT / 1000 },
  },
];

const rateLimitIndexes: readonly Index[] = [
  { name: 'window_end', key: { ends_at: 1 }, options: { expireAfterSeconds: 0 } },
];

export interface IndexOptions {
  reducesRevoked?: boolean;
}

export const indexesOf = ({ reducesRevoked = false }: IndexOptions = {}) => ({
  applications: applicationIndexes,
  accounts: accountIndexes,
  links: linkIndexes,
  pages: pageIndexes,
  grants: reducesRevoked ? [...grantIndexes, revokedIndex] : grantIndexes,
  endpoints: endpointIndexes,
  deliveries: deliveryIndexes,
  refusals: refusalIndexes,
  hour_counts: countIndexes,
  rate_limit_counts: rateLimitIndexes,
});

export type IndexedCollection = keyof ReturnType<typeof indexesOf>;

export interface MissingIndexes {
  collection: IndexedCollection;
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
  const collections = Object.keys(all) as IndexedCollection[];
  const findings = await Promise.all(
    collections.map(async (collection) => {
      const present = await listIndexes(db, collection, maxTimeMS);
      const wanted: readonly Index[] = all[collection];
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
  collection: IndexedCollection,
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
  collection: IndexedCollection,
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
