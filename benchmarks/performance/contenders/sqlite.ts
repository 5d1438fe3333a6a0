import { DatabaseSync } from 'node:sqlite';
import type { GrantRecord, Records } from '../bare/records.ts';
import { runBare } from '../bare/server.ts';
import type { Contender } from '../contender.ts';
import { startProgram } from '../program.ts';
import { restWire } from '../wires/rest.ts';

interface GrantRow {
  id: string;
  application_id: string;
  scope: string;
  account: string;
  created_at: number;
  revoked_at: number | null;
}

const grantOf = ({ id, account, ...row }: GrantRow): GrantRecord => ({
  grant_id: id,
  application_id: row.application_id,
  scope: row.scope,
  account: JSON.parse(account),
  created_at: row.created_at,
  revoked_at: row.revoked_at,
});

/** Records in a file. A write is on disk before its response is sent. */
function sqliteRecords(path: string): Records {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE applications (
      id TEXT PRIMARY KEY, record TEXT, disabled INTEGER, secret_hash BLOB
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE accounts (id TEXT PRIMARY KEY, account TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE grants (
      id TEXT PRIMARY KEY, application_id TEXT, account_id TEXT, scope TEXT, account TEXT,
      code_hash BLOB, code_expires_at INTEGER, created_at INTEGER, secret_hash BLOB,
      first_used_at INTEGER, revoked_at INTEGER
    ) STRICT, WITHOUT ROWID`);
  const GRANT = 'id, application_id, scope, account, created_at, revoked_at';
  const addApplication = database.prepare('INSERT INTO applications VALUES (?, ?, 0, ?)');
  const putAccount = database.prepare('INSERT OR REPLACE INTO accounts VALUES (?, ?)');
  const application = database.prepare('SELECT record, secret_hash FROM applications WHERE id = ?');
  const issue = database.prepare(`
    INSERT INTO grants (id, application_id, account_id, scope, account, code_hash, code_expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const redeem = database.prepare(`
    UPDATE grants SET created_at = :now, secret_hash = :secret_hash, code_expires_at = NULL
    WHERE id = :grant_id AND application_id = :application_id AND code_hash = :code_hash
      AND created_at IS NULL AND code_expires_at > :now
    RETURNING ${GRANT}`);
  const authenticate = database.prepare(`
    SELECT g.id, g.application_id, g.scope, g.account, g.created_at, g.revoked_at, g.secret_hash,
      g.first_used_at, a.disabled, c.account AS account_now
    FROM grants g JOIN applications a ON a.id = g.application_id
      JOIN accounts c ON c.id = g.account_id
    WHERE g.id = ? AND g.created_at IS NOT NULL`);
  const noteUse = database.prepare(`
    UPDATE grants SET first_used_at = coalesce(first_used_at, :now)
    WHERE id = :grant_id AND secret_hash = :secret_hash`);
  const revoke = database.prepare(`
    UPDATE grants SET revoked_at = coalesce(revoked_at, :now), secret_hash = NULL
    WHERE id = :grant_id AND application_id = :application_id AND created_at IS NOT NULL
    RETURNING ${GRANT}`);

  return {
    createApplication({ secret_hash, ...record }) {
      addApplication.run(record.id, JSON.stringify(record), secret_hash);
    },
    putAccount: (account) => void putAccount.run(account.id, JSON.stringify(account)),
    findApplication(id) {
      const row = application.get(id) as { record: string; secret_hash: Uint8Array } | undefined;
      return row ? { ...JSON.parse(row.record), secret_hash: row.secret_hash } : null;
    },
    issueCode({ grant_id, application_id, account, scope, code_hash, code_expires_at }) {
      const snapshot = JSON.stringify(account);
      issue.run(grant_id, application_id, account.id, scope, snapshot, code_hash, code_expires_at);
    },
    redeemCode({ grant_id, application_id, code_hash, secret_hash, now }) {
      const values = { grant_id, application_id, code_hash, secret_hash, now };
      const row = redeem.get(values) as GrantRow | undefined;
      return row ? grantOf(row) : null;
    },
    authenticateGrant(grant_id) {
      const row = authenticate.get(grant_id) as
        | (GrantRow & {
            secret_hash: Uint8Array | null;
            first_used_at: number | null;
            disabled: number;
            account_now: string;
          })
        | undefined;
      if (!row) return null;
      return {
        grant: grantOf(row),
        secret_hash: row.secret_hash,
        first_used_at: row.first_used_at,
        application_disabled: row.disabled === 1,
        account: JSON.parse(row.account_now),
      };
    },
    noteFirstUse: ({ grant_id, secret_hash, now }) =>
      noteUse.run({ grant_id, secret_hash, now }).changes === 1,
    revokeGrant({ grant_id, application_id, now }) {
      const row = revoke.get({ grant_id, application_id, now }) as GrantRow | undefined;
      return row ? grantOf(row) : null;
    },
  };
}

/** The floor for durable storage: the same rules over `node:sqlite`, one commit per write. */
export const sqlite: Contender = {
  name: 'node:http over node:sqlite',
  share: 0.5,
  start: (options) => startProgram(import.meta.filename, options, restWire),
};

if (import.meta.main) await runBare(sqliteRecords('./bare.db'));
