import type { DatabaseSync } from 'node:sqlite';
import {
  mayMakeSteps,
  refuseNewer,
  type SchemaStep,
  versionAfter,
} from '@latchkey/store/schema-version';
import { rollBack } from './errors.ts';

/** One transaction, which blocks every other write: a few seconds with a million grants. */
export interface SqliteStep extends SchemaStep {
  sql: string;
}

/** Ids are the bytes of the UUID, so UUIDv7s sort by time. Times are milliseconds. */
export const migrations: readonly SqliteStep[] = [
  {
    title: 'create the tables',
    additive: false,
    rewrites: false,
    sql: `
  -- WITHOUT ROWID: short rows are stored in the order of their key, without a second tree.
  CREATE TABLE applications (
    id BLOB PRIMARY KEY,
    deleted_at INTEGER,
    deleted_by TEXT,
    deletion_pending INTEGER, -- until its grants are revoked
    document_uri TEXT, -- for what is told of them
    name TEXT NOT NULL,
    disabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    secrets TEXT NOT NULL, -- JSON
    redirect_uris TEXT NOT NULL, -- JSON
    scopes TEXT, -- JSON; null for every described one
    default_scopes TEXT, -- JSON
    public INTEGER NOT NULL,
    resource_server INTEGER NOT NULL,
    challenge_required INTEGER NOT NULL,
    idle_days INTEGER,
    grants_per_account INTEGER,
    enabled_at INTEGER,
    generations TEXT, -- JSON; null before anything has ended
    document TEXT, -- JSON
    homepage_uri TEXT,
    policy_uri TEXT,
    tos_uri TEXT,
    logo_uri TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX pending_deletions ON applications (deletion_pending)
    WHERE deletion_pending IS NOT NULL;

  CREATE TABLE client_documents (
    address TEXT PRIMARY KEY, -- its SHA-256
    application_id BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE accounts (
    id BLOB PRIMARY KEY,
    place BLOB, -- a UUIDv7 of the first put, since an account's own id has no time
    account TEXT, -- JSON; null while it is erased
    sign_outs INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0, -- for MongoDB: an erasure is one with its account here
    -- Until the erasure has come to all of its grants.
    erased_at INTEGER,
    erased_by TEXT,
    erased_before BLOB -- the grants with a lesser id are left
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX accounts_by_place ON accounts (place);
  CREATE INDEX accounts_by_username ON accounts (account ->> 'username', place);
  CREATE INDEX accounts_by_external_id ON accounts (account ->> 'external_id', place)
    WHERE account ->> 'external_id' IS NOT NULL;

  CREATE TABLE scopes (
    scope TEXT PRIMARY KEY,
    deleted_at INTEGER,
    description_id BLOB NOT NULL, -- another one after a deletion
    sensitive INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    texts TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;

  -- One row has all.
  CREATE TABLE resources (
    name TEXT PRIMARY KEY,
    list TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    list TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;

  -- Authorization requests that were accepted.
  CREATE TABLE links (
    id BLOB PRIMARY KEY NOT NULL,
    link_hash BLOB NOT NULL,
    application_id BLOB,
    document TEXT, -- JSON
    redirect_uri TEXT NOT NULL,
    redirect_uri_given INTEGER NOT NULL,
    resource TEXT, -- JSON
    scope TEXT NOT NULL,
    state TEXT,
    code_challenge TEXT,
    login_hint TEXT,
    ui_locales TEXT,
    salt BLOB NOT NULL,
    generation INTEGER NOT NULL, -- of the application
    description_hash BLOB NOT NULL, -- of the ids of the descriptions
    expires_at INTEGER NOT NULL,
    account_id BLOB,
    account_revision INTEGER NOT NULL DEFAULT 0,
    page_id BLOB,
    switched INTEGER NOT NULL DEFAULT 0,
    status TEXT, -- the next four are the decision
    decided_by BLOB,
    grant_id BLOB,
    granted_scope TEXT,
    begin_initiator TEXT,
    identify_initiator TEXT,
    switch_initiator TEXT,
    decide_initiator TEXT
  ) STRICT;

  CREATE INDEX links_by_account ON links (account_id) WHERE account_id IS NOT NULL;
  CREATE INDEX links_by_expiry ON links (expires_at);

  CREATE TABLE pages (
    id BLOB PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    link_id BLOB,
    account_id BLOB NOT NULL,
    account_revision INTEGER NOT NULL DEFAULT 0,
    sign_outs INTEGER NOT NULL DEFAULT 0, -- of the account, at the creation
    ticket_hash BLOB NOT NULL,
    ticket_expires_at INTEGER NOT NULL,
    session_hash BLOB, -- from the opening
    expires_at INTEGER NOT NULL,
    return_url TEXT,
    locale TEXT,
    create_initiator TEXT,
    open_initiator TEXT
  ) STRICT;

  CREATE INDEX pages_by_account ON pages (account_id);
  CREATE INDEX pages_by_expiry ON pages (expires_at);

  -- A code is a grant that is not redeemed yet: one row for both, so that one UPDATE redeems.
  -- With a row id, because six rows fill a page: see decision 32. The columns that every request
  -- reads come first.
  CREATE TABLE grants (
    id BLOB PRIMARY KEY NOT NULL,
    application_id BLOB NOT NULL,
    -- The next four are null once REVOKED_GRANT_DAYS have passed since the revocation.
    account_id BLOB,
    scope TEXT,
    account TEXT, -- JSON, the snapshot of the issue
    code_hash BLOB, -- to recognise a replay
    code_expires_at INTEGER, -- while pending
    created_at INTEGER, -- when the code was redeemed
    secret_hash BLOB, -- while active
    first_used_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER,
    -- What the code is bound to; kept as long as its hash.
    redirect_uri TEXT,
    redirect_uri_given INTEGER NOT NULL DEFAULT 0,
    code_challenge TEXT,
    resource TEXT,
    link_id BLOB,
    generation INTEGER NOT NULL DEFAULT 0, -- of the application; only codes need it
    account_revision INTEGER NOT NULL DEFAULT 0,
    issued_by TEXT,
    redeemed_by TEXT,
    first_used_by TEXT,
    recoveries INTEGER NOT NULL DEFAULT 0,
    recovered_at INTEGER,
    recovered_by TEXT,
    revoked_by TEXT,
    revoked_reason TEXT -- null if revoked_by tells it
  ) STRICT;

  -- Has only the pending codes, so that the sweep reads no grants.
  CREATE INDEX codes_by_expiry ON grants (code_expires_at) WHERE code_expires_at IS NOT NULL;

  -- The operator's lists. Pending codes are in them, so that a redemption writes to neither.
  CREATE INDEX grants_by_account ON grants (account_id, id);
  -- What REVOKED_GRANT_DAYS reduced has no account, and stays.
  CREATE INDEX grants_by_application ON grants (application_id, id) WHERE account_id IS NOT NULL;

  -- What is active or pending, so that what was revoked costs nothing: see decision 56. A redemption
  -- writes to neither.
  CREATE INDEX unrevoked_by_account ON grants (account_id, application_id, id) WHERE revoked_at IS NULL;
  CREATE INDEX unrevoked_by_application ON grants (application_id, id) WHERE revoked_at IS NULL;
  CREATE INDEX codes_by_application ON grants (application_id, account_id)
    WHERE code_expires_at IS NOT NULL;

  CREATE TABLE refusals (
    id BLOB PRIMARY KEY,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    error_code TEXT NOT NULL,
    reason TEXT,
    called_by TEXT,
    application_id BLOB,
    account_id BLOB,
    grant_id BLOB,
    key_id BLOB,
    address TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX refusals_by_request ON refusals (request_id, id);
  CREATE INDEX refusals_by_application ON refusals (application_id, id)
    WHERE application_id IS NOT NULL;
  CREATE INDEX refusals_by_account ON refusals (account_id, id) WHERE account_id IS NOT NULL;
  CREATE INDEX refusals_by_grant ON refusals (grant_id, id) WHERE grant_id IS NOT NULL;
  CREATE INDEX refusals_by_expiry ON refusals (expires_at);

  -- Changes that were made on the command line, until a service has written them into its log.
  CREATE TABLE command_changes (
    id BLOB PRIMARY KEY,
    change TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;

  -- The last number of the log: one row at most.
  CREATE TABLE log_counter (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE endpoints (
    id BLOB PRIMARY KEY,
    application_id BLOB, -- null for the host's
    url TEXT NOT NULL,
    types TEXT, -- JSON; null for all
    disabled_reason TEXT, -- null if it is enabled
    created_at INTEGER NOT NULL,
    secret_version INTEGER NOT NULL,
    overlap_until INTEGER, -- the end of the secret before
    last_success_at INTEGER,
    failing_since INTEGER,
    failures INTEGER NOT NULL -- since then
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX endpoints_by_application ON endpoints (application_id, id);
  CREATE INDEX failing_endpoints ON endpoints (failing_since) WHERE failing_since IS NOT NULL;

  -- Events, each recorded in the transaction of its change, that are no deliveries yet.
  CREATE TABLE outbox (
    number INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    about BLOB NOT NULL, -- a grant, an account or an application
    at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE deliveries (
    id BLOB PRIMARY KEY NOT NULL,
    endpoint_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    type TEXT NOT NULL,
    grant_id BLOB,
    account_id BLOB,
    body TEXT, -- null once its account is erased
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL, -- when the event happened
    due_at INTEGER, -- while pending: the next try, or the end of the claim
    claim TEXT, -- of the try under way
    tries INTEGER NOT NULL,
    attempts TEXT NOT NULL, -- JSON
    ended_at INTEGER
  ) STRICT;

  CREATE INDEX due_deliveries ON deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, status, id);
  CREATE INDEX deliveries_by_grant ON deliveries (grant_id, id) WHERE grant_id IS NOT NULL;
  CREATE INDEX messages_with_names ON deliveries (account_id) WHERE type = 'account.updated';
  CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

  -- What happened in each of the last hours.
  CREATE TABLE hour_counts (
    hour INTEGER PRIMARY KEY, -- its beginning
    counts TEXT NOT NULL -- JSON
  ) STRICT;

  -- How many grants are active: one row at most.
  CREATE TABLE live_count (
    name TEXT PRIMARY KEY,
    count INTEGER, -- this and the next are null before the first count
    counted_at INTEGER,
    claimed_at INTEGER -- when a process began to count
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
  `,
  },
];

export function migrate(
  database: DatabaseSync,
  path: string,
  mayMigrate: boolean | 'all' = true,
  steps: readonly SqliteStep[] = migrations,
): void {
  const isNeeded = () => {
    const version = versionOf(database, path, steps);
    if (mayMigrate === 'all') return version < steps.length;
    return mayMakeSteps(version, steps, nameOf(path), mayMigrate);
  };
  // Without a lock, since there is nearly always nothing to do.
  if (!isNeeded()) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have just migrated.
    if (isNeeded()) {
      for (const { sql } of steps.slice(versionOf(database, path, steps))) database.exec(sql);
      const { version, oldest } = versionAfter(steps);
      database.exec(`
        PRAGMA user_version = ${version};
        DELETE FROM schema_version;
        INSERT INTO schema_version (version, oldest) VALUES (${version}, ${oldest})`);
    }
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

export function versionOf(
  database: DatabaseSync,
  path: string,
  steps: readonly SqliteStep[] = migrations,
): number {
  const version = database.prepare('PRAGMA user_version').get()?.user_version as number;
  if (version > steps.length) {
    refuseNewer({ version, oldest: oldestOf(database, version) }, steps, nameOf(path));
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
