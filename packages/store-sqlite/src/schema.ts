import type { DatabaseSync } from 'node:sqlite';
import { type AnyKind, indexesOf } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import { refuseNewer, SCHEMA } from '@latchkey/store/schema-version';
import { indexText, tableOf } from '@latchkey/store/sql-schema';
import { rollBack } from './errors.ts';

/** Ids are the bytes of the UUID, so UUIDv7s sort by time. Times are milliseconds. */
const types = {
  ...{ id: 'BLOB', bytes: 'BLOB', text: 'TEXT', json: 'TEXT', by: 'TEXT' },
  ...{ time: 'INTEGER', number: 'INTEGER', flag: 'INTEGER' },
} as const;

// WITHOUT ROWID: short rows are stored in the order of their key, without a second tree.
const optionsOf = ({ isLong }: AnyKind) => (isLong ? ' STRICT' : ' STRICT, WITHOUT ROWID');

const ofKinds = Object.values<AnyKind>(kinds)
  .map((kind) => tableOf({ types, optionsOf }, kind))
  .join('\n\n');

export const SCHEMA_TEXT = `
  ${ofKinds}

  -- Events, each recorded in the transaction of its change, that are no deliveries yet.
  CREATE TABLE marks (
    of TEXT NOT NULL, -- the table of its record
    about BLOB NOT NULL, -- the key of its record
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    id BLOB NOT NULL, -- of the event, or of the record of which the event is made
    name TEXT, -- of the application
    PRIMARY KEY (of, at, id, type)
  ) STRICT, WITHOUT ROWID;

  -- What happened in each of the last hours.
  CREATE TABLE hour_counts (
    hour INTEGER PRIMARY KEY, -- its beginning
    counts TEXT NOT NULL -- JSON
  ) STRICT;

  -- How many grants are active: one row at most.
  CREATE TABLE live_count (
    name TEXT PRIMARY KEY,
    count INTEGER, -- this and the next are null before the first count
    counted_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE rate_limit_counts (
    key TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX rate_limit_counts_by_end ON rate_limit_counts (ends_at);

  -- What the database is used for: one row, and none in a new database.
  CREATE TABLE use_mark (
    mark TEXT NOT NULL -- JSON
  ) STRICT;

  -- Whether the file has all that was committed: one row, see wal-mark.ts.
  CREATE TABLE wal_mark (
    state TEXT NOT NULL,
    since INTEGER NOT NULL
  ) STRICT;

  INSERT INTO wal_mark (state, since) VALUES ('complete', 0);

  -- The oldest program that can use the database, as long as its version is this one.
  CREATE TABLE schema_version (
    version INTEGER NOT NULL,
    oldest INTEGER NOT NULL
  ) STRICT;
`;

/** For REVOKED_GRANT_DAYS. */
export const reductionIndexes = indexesOf(kinds.grants, { withOptional: true })
  .filter(({ isOptional }) => isOptional)
  .map((index) => indexText(kinds.grants, index))
  .join('\n');

/** One transaction: where there are any tables, there are all. */
export function createSchema(database: DatabaseSync, path: string): void {
  // Without a lock, since there is nearly always nothing to do.
  if (versionOf(database, path) > 0) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have just done so.
    if (versionOf(database, path) === 0) {
      const { version, oldest } = SCHEMA;
      database.exec(`${SCHEMA_TEXT}
        PRAGMA user_version = ${version};
        INSERT INTO schema_version (version, oldest) VALUES (${version}, ${oldest})`);
    }
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** 0: it has no tables of Latchkey. */
export function versionOf(database: DatabaseSync, path: string): number {
  const version = database.prepare('PRAGMA user_version').get()?.user_version as number;
  if (version > SCHEMA.version) {
    refuseNewer({ version, oldest: oldestOf(database, version) }, nameOf(path));
  }
  return version;
}

export const nameOf = (path: string) => `The database ${path}`;

function oldestOf(database: DatabaseSync, version: number): number {
  try {
    const find = database.prepare('SELECT oldest FROM schema_version WHERE version = ?');
    return (find.get(version)?.oldest as number | undefined) ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
