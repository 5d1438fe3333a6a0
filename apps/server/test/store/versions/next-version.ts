import type { StoreDriver } from '@latchkey/store/store-driver';
import { type MongoStep, migrations as mongoMigrations } from '@latchkey/store-mongodb/migrations';
import { openMongoStore } from '@latchkey/store-mongodb/mongo-store';
import { pathOf } from '@latchkey/store-sqlite/driver';
import { type SqliteStep, migrations as sqliteMigrations } from '@latchkey/store-sqlite/migrations';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import type { Binary, Db } from 'mongodb';

// A made-up next version of Latchkey. Its step only adds: a table, an index, and a column or a field of
// everything that there is.

const step = { title: 'add notes', additive: true, rewrites: true };

const tables = [
  ...['applications', 'client_documents', 'accounts', 'scopes', 'links'],
  ...['pages', 'grants', 'refusals', 'rate_limit_counts'],
];

export const nextSqliteMigrations: readonly SqliteStep[] = [
  ...sqliteMigrations,
  {
    ...step,
    sql: `
      ${tables.map((table) => `ALTER TABLE ${table} ADD COLUMN note TEXT NOT NULL DEFAULT 'new';`).join('\n')}
      CREATE TABLE notes (id BLOB PRIMARY KEY, note TEXT NOT NULL) STRICT;
      CREATE INDEX grants_by_revocation ON grants (revoked_at) WHERE revoked_at IS NOT NULL;`,
  },
];

export const nextMongoMigrations: readonly MongoStep[] = [
  ...mongoMigrations,
  { ...step, run: addNotes },
];

const BATCH_SIZE = 1_000;

/** In batches, as long updates would hold others up. Those that are done are found again, and skipped. */
async function addNotes(
  db: Db,
  { durable, listing }: Parameters<MongoStep['run']>[1],
): Promise<void> {
  const grants = db.collection<{ _id: Binary; note?: string }>('grants');
  let after: Binary | null = null;
  for (;;) {
    const page: { _id: Binary }[] = await grants
      .find(after === null ? {} : { _id: { $gt: after } }, {
        ...listing,
        projection: { _id: 1 },
      })
      .sort({ _id: 1 })
      .limit(BATCH_SIZE)
      .toArray();
    const last = page.at(-1);
    if (last === undefined) return;
    const ids = page.map(({ _id }) => _id);
    const missing = { _id: { $in: ids }, note: { $exists: false } };
    await grants.updateMany(missing, { $set: { note: 'new' } }, durable);
    after = last._id;
  }
}

/** Opens a store as the next version does, which migrates it. */
export const driver: Pick<StoreDriver, 'open'> = {
  open: (url, options) =>
    url.startsWith('file:')
      ? openSqliteStore({ path: pathOf(url), migrations: nextSqliteMigrations, ...options })
      : openMongoStore({ url, migrations: nextMongoMigrations, ...options }),
};
