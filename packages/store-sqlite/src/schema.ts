import type { DatabaseSync } from 'node:sqlite';
import { type AnyKind, indexesOf } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import { refuseNewer, SCHEMA } from '@latchkey/store/schema-version';
import { indexText, tableOf, tablesByHand } from '@latchkey/store/sql/schema';
import { rollBack } from './errors.ts';

/** Ids are the bytes of the UUID, so UUIDv7s sort by time. Times are milliseconds. */
const types = {
  ...{ id: 'BLOB', bytes: 'BLOB', text: 'TEXT', json: 'TEXT', by: 'TEXT' },
  ...{ time: 'INTEGER', number: 'INTEGER', flag: 'INTEGER' },
} as const;

// WITHOUT ROWID: short rows are stored in the order of their key, without a second tree.
const optionsOf = ({ isLong }: Pick<AnyKind, 'isLong'>) =>
  isLong ? ' STRICT' : ' STRICT, WITHOUT ROWID';

const ofKinds = Object.values<AnyKind>(kinds)
  .map((kind) => tableOf({ types, optionsOf }, kind))
  .join('\n\n');

export const SCHEMA_TEXT = `
  ${ofKinds}

${tablesByHand({ types, optionsOf })}

  -- Whether the file has all that was committed: one row, see wal-mark.ts.
  CREATE TABLE wal_mark (
    state TEXT NOT NULL,
    since INTEGER NOT NULL
  ) STRICT;

  INSERT INTO wal_mark (state, since) VALUES ('complete', 0);
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
      database.exec(`${SCHEMA_TEXT} PRAGMA user_version = ${SCHEMA.version}`);
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
