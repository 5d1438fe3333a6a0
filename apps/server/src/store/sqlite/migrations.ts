import type { DatabaseSync } from 'node:sqlite';
import { rollBack } from './roll-back.ts';

/**
 * What brings a database from version n to n + 1, by n; `PRAGMA user_version` counts. Never change
 * a step that was released: add one.
 *
 * - Ids are the 16 bytes of the UUID: a UUIDv7 sorts by its time as bytes too. Hashes are BLOBs,
 *   times milliseconds.
 * - WITHOUT ROWID: what is found by its own id is sorted by that, and there is no second tree to read
 *   and to write. That is for short rows, and the grants are without it no longer, see the last step.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE applications (
    id BLOB PRIMARY KEY,
    name TEXT NOT NULL,
    disabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE application_secrets (
    application_id BLOB NOT NULL,
    place INTEGER NOT NULL, -- 1, 2, …: the order in which they were added
    id BLOB NOT NULL,
    hash BLOB NOT NULL,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (application_id, place)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE accounts (
    id BLOB PRIMARY KEY,
    account TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;

  -- A code is a grant that is not exchanged yet: one row for both, so that one UPDATE redeems.
  CREATE TABLE grants (
    id BLOB PRIMARY KEY,
    application_id BLOB NOT NULL,
    account_id BLOB NOT NULL,
    scope TEXT NOT NULL,
    account TEXT NOT NULL, -- JSON, as it was at issue
    code_hash BLOB NOT NULL, -- stays, to recognise a replay
    code_expires_at INTEGER, -- while pending
    created_at INTEGER, -- from the exchange on
    secret_hash BLOB, -- while active
    first_used_at INTEGER,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;

  -- Holds only the codes of the last minutes, so that the sweep reads no grants.
  CREATE INDEX codes_by_expiry ON grants (code_expires_at) WHERE code_expires_at IS NOT NULL;

  -- The operator's lists.
  CREATE INDEX grants_by_account ON grants (account_id, id) WHERE created_at IS NOT NULL;
  CREATE INDEX grants_by_application ON grants (application_id, id) WHERE created_at IS NOT NULL;
  `,
  `
  -- Where each change of a grant came from: JSON, null in a row from before. What is read on the
  -- hot path stands before them in the row.
  ALTER TABLE grants ADD COLUMN issued_by TEXT;
  ALTER TABLE grants ADD COLUMN exchanged_by TEXT;
  ALTER TABLE grants ADD COLUMN first_used_by TEXT;
  ALTER TABLE grants ADD COLUMN recoveries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE grants ADD COLUMN recovered_at INTEGER;
  ALTER TABLE grants ADD COLUMN recovered_by TEXT;
  ALTER TABLE grants ADD COLUMN revoked_by TEXT;

  CREATE TABLE refusals (
    id BLOB PRIMARY KEY,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    error_code TEXT NOT NULL,
    reason TEXT,
    called_by TEXT,
    application_id BLOB,
    grant_id BLOB,
    address TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX refusals_by_request ON refusals (request_id, id);
  CREATE INDEX refusals_by_grant ON refusals (grant_id, id) WHERE grant_id IS NOT NULL;
  CREATE INDEX refusals_by_expiry ON refusals (expires_at);
  `,
  `
  CREATE TABLE rate_limit_counts (
    key TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- For the sweep.
  CREATE INDEX rate_limit_counts_by_end ON rate_limit_counts (ends_at);
  `,
  `
  -- A grant takes a sixth of a page. WITHOUT ROWID, grants stood in the upper parts of the tree too,
  -- which was some nine pages high with 5,000,000 of them, six to a page; so it is some four, and a
  -- list of ten takes 0.8 of the time.
  CREATE TABLE grants_with_rowid (
    id BLOB PRIMARY KEY NOT NULL,
    application_id BLOB NOT NULL,
    account_id BLOB NOT NULL,
    scope TEXT NOT NULL,
    account TEXT NOT NULL,
    code_hash BLOB NOT NULL,
    code_expires_at INTEGER,
    created_at INTEGER,
    secret_hash BLOB,
    first_used_at INTEGER,
    revoked_at INTEGER,
    issued_by TEXT,
    exchanged_by TEXT,
    first_used_by TEXT,
    recoveries INTEGER NOT NULL DEFAULT 0,
    recovered_at INTEGER,
    recovered_by TEXT,
    revoked_by TEXT
  ) STRICT;
  INSERT INTO grants_with_rowid SELECT
    id, application_id, account_id, scope, account, code_hash, code_expires_at, created_at, secret_hash,
    first_used_at, revoked_at, issued_by, exchanged_by, first_used_by, recoveries, recovered_at,
    recovered_by, revoked_by
    FROM grants ORDER BY id;
  DROP TABLE grants;
  ALTER TABLE grants_with_rowid RENAME TO grants;

  CREATE INDEX codes_by_expiry ON grants (code_expires_at) WHERE code_expires_at IS NOT NULL;
  -- Codes are in the operator's lists too, so that it is their issue that writes there, and an exchange
  -- does not: it writes half of the pages that it did.
  CREATE INDEX grants_by_account ON grants (account_id, id);
  CREATE INDEX grants_by_application ON grants (application_id, id);
  `,
];

/**
 * Brings a database to the version of this program, in one transaction.
 *
 * @param path - for the message
 * @throws Error where the database is of a newer program
 */
export function migrate(database: DatabaseSync, path: string): void {
  // Nearly always there is nothing to do, and then no lock is taken.
  if (versionOf(database, path) === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Looked at again under the lock: of several processes that start at once, one does the work.
    for (const step of migrations.slice(versionOf(database, path))) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function versionOf(database: DatabaseSync, path: string): number {
  const version = database.prepare('PRAGMA user_version').get()?.user_version as number;
  if (version > migrations.length) {
    throw new Error(
      `The database ${path} was made by a newer Latchkey (its schema is version ${version}, this program knows ${migrations.length}). Run that version of Latchkey or a later one, or point DATABASE_URL at another file.`,
    );
  }
  return version;
}
