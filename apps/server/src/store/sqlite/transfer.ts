import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { ApplicationRecord, CodeBinding, ListedAccount } from '../records.ts';
import { refuseToCopy } from '../schema-version.ts';
import {
  isAhead,
  mergeApplication,
  type RecordCounts,
  type StoredGrant,
  type StoredScope,
  type Transfer,
} from '../transfer.ts';
import { prepareApplications } from './applications.ts';
import { retryWhileLocked, rollBack, toStoreError } from './errors.ts';
import { migrations, versionOf } from './migrations.ts';
import { nodeSqlite, openDatabase } from './open-database.ts';
import {
  type ApplicationRow,
  accountRecord,
  accountText,
  type BindingRow,
  binding,
  bindingColumns,
  initiatorRecord,
  initiatorText,
} from './rows.ts';

type GrantRow = BindingRow & {
  id: Uint8Array;
  application_id: Uint8Array;
  account_id: Uint8Array | null;
  scope: string;
  account: string;
  code_hash: Uint8Array;
  created_at: number;
  secret_hash: Uint8Array | null;
  first_used_at: number | null;
  revoked_at: number | null;
  recoveries: number;
  recovered_at: number | null;
  issued_by: string | null;
  redeemed_by: string | null;
  first_used_by: string | null;
  recovered_by: string | null;
  revoked_by: string | null;
};

/** The columns that change in the life of a grant; the others stay as they were inserted. */
const STATE = [
  ...['created_at', 'secret_hash', 'first_used_at', 'revoked_at', 'recoveries', 'recovered_at'],
  ...['redeemed_by', 'first_used_by', 'recovered_by', 'revoked_by'],
];
const COLUMNS = [
  ...['id', 'application_id', 'account_id', 'scope', 'account', 'code_hash', 'issued_by'],
  ...['redirect_uri', 'redirect_uri_given', 'code_challenge', 'link_id'],
  ...STATE,
];

/**
 * Opens a database to copy from, which is never changed.
 *
 * @throws Error if there is none, or its schema is not that of this version
 */
export async function openSqliteSource(path: string): Promise<Transfer> {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}.`);
  const database = new (nodeSqlite().DatabaseSync)(path, { readOnly: true });
  try {
    const version = await retryWhileLocked(() => versionOf(database, path));
    refuseToCopy(version, migrations, path);
    if (version === 0) throw new Error(`${path} is not a database of Latchkey.`);
    return transfer(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a database to copy to, and creates it if there is none. */
export async function openSqliteTarget(path: string): Promise<Transfer> {
  const database = await openDatabase(path);
  database.exec(`CREATE TABLE IF NOT EXISTS copied_from
    (source TEXT NOT NULL, completed INTEGER NOT NULL) STRICT;
    -- What a copy has brought: the ids of applications and secrets, the places of accounts, and the
    -- names and times of scopes.
    CREATE TABLE IF NOT EXISTS copied_records (id BLOB PRIMARY KEY) STRICT, WITHOUT ROWID`);
  return transfer(database, path);
}

const textEncoder = new TextEncoder();

function transfer(database: DatabaseSync, path: string): Transfer {
  const applications = prepareApplications(database);
  const prepared = new Map<string, StatementSync>();
  // Prepared when it is needed first: a source lacks the table of a target.
  function statement(sql: string): StatementSync {
    const found = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, found);
    return found;
  }

  function page(columns: string, table: string, condition = 'TRUE') {
    const sql = `SELECT ${columns} FROM ${table} WHERE ${condition} AND id > ? ORDER BY id LIMIT ?`;
    return ({ after, limit }: { after: string | null; limit: number }) =>
      statement(sql).all(after === null ? new Uint8Array() : uuidToBytes(after), limit);
  }
  const pageOfApplications = page('id', 'applications');
  const pageOfAccounts = page('place, account', 'accounts');
  const pageOfGrants = page(COLUMNS.join(), 'grants', 'created_at IS NOT NULL');

  async function run<T>(work: () => T): Promise<T> {
    try {
      return await retryWhileLocked(work);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** One transaction for a page of records: one wait for the disk. */
  async function write(work: () => void): Promise<void> {
    await run(() => database.exec('BEGIN IMMEDIATE'));
    try {
      work();
      database.exec('COMMIT');
    } catch (error) {
      rollBack(database);
      throw toStoreError(error);
    }
  }

  function findGrant(grant_id: string): StoredGrant | null {
    const find = statement(
      `SELECT ${COLUMNS.join()} FROM grants WHERE id = ? AND created_at IS NOT NULL`,
    );
    const row = find.get(uuidToBytes(grant_id)) as GrantRow | undefined;
    return row ? storedGrant(row) : null;
  }

  function importGrant(grant: StoredGrant): void {
    const present = findGrant(grant.grant_id);
    if (present !== null && !isAhead(grant, present)) return;
    // The conflict is a pending code under the same id, or what `isAhead` compared.
    statement(`
      INSERT INTO grants (${COLUMNS.join()}) VALUES (${COLUMNS.map((name) => `:${name}`).join()})
      ON CONFLICT (id) DO UPDATE SET code_expires_at = NULL,
        ${STATE.map((name) => `${name} = excluded.${name}`).join()}`).run(grantRow(grant));
  }

  function wasCopied(id: Uint8Array): boolean {
    return statement('SELECT 1 FROM copied_records WHERE id = ?').get(id) !== undefined;
  }

  function noteCopied(id: Uint8Array): void {
    statement('INSERT OR IGNORE INTO copied_records (id) VALUES (?)').run(id);
  }

  function importApplication(source: ApplicationRecord, completed: boolean): void {
    const target = applications.findApplication(source.id);
    if (completed && target === null && wasCopied(uuidToBytes(source.id))) return;
    const merged =
      completed && target !== null
        ? mergeApplication(source, target, (id) => wasCopied(uuidToBytes(id)))
        : source;
    const id = uuidToBytes(merged.id);
    statement('DELETE FROM application_secrets WHERE application_id = ?').run(id);
    statement('DELETE FROM applications WHERE id = ?').run(id);
    applications.createApplication(merged);
    for (const brought of [source, ...source.secrets]) noteCopied(uuidToBytes(brought.id));
  }

  function importAccount({ place, account }: ListedAccount, completed: boolean): void {
    const row = {
      id: uuidToBytes(account.id),
      place: uuidToBytes(place),
      account: accountText(account),
    };
    const insert = 'INSERT INTO accounts (id, place, account) VALUES (:id, :place, :account)';
    if (!completed) {
      statement(`${insert} ON CONFLICT (id) DO UPDATE
        SET place = excluded.place, account = excluded.account`).run(row);
    } else if (!wasCopied(row.place)) {
      statement(`${insert} ON CONFLICT (id) DO NOTHING`).run(row);
    }
    noteCopied(row.place);
  }

  function importScope({ texts, ...scope }: StoredScope, completed: boolean): void {
    // A scope that is described again after a deletion is another one.
    const key = textEncoder.encode(`${scope.scope} ${scope.described_at}`);
    if (completed && wasCopied(key)) return;
    // Only the first copy replaces what the target has.
    statement(`
      INSERT INTO scopes (scope, described_at, title, description, texts)
      VALUES (:scope, :described_at, :title, :description, :texts)
      ON CONFLICT (scope) DO ${
        completed
          ? 'NOTHING'
          : `UPDATE SET described_at = excluded.described_at, title = excluded.title,
              description = excluded.description, texts = excluded.texts`
      }`).run({ ...scope, texts: JSON.stringify(texts) });
    noteCopied(key);
  }

  return {
    name: `file:${resolve(path)}`,

    exportScopes: () =>
      run(() => {
        const rows = statement('SELECT * FROM scopes').all() as (Omit<StoredScope, 'texts'> & {
          texts: string;
        })[];
        return rows.map((row) => ({ ...row, texts: JSON.parse(row.texts) }));
      }),
    exportApplications: (range) =>
      run(() => {
        const rows = pageOfApplications(range) as Pick<ApplicationRow, 'id'>[];
        return rows.flatMap(({ id }) => applications.findApplication(uuidFromBytes(id)) ?? []);
      }),
    exportAccounts: (range) =>
      run(() =>
        (pageOfAccounts(range) as { place: Uint8Array; account: string }[]).map((row) => ({
          place: uuidFromBytes(row.place),
          account: accountRecord(row.account),
        })),
      ),
    exportGrants: (range) => run(() => (pageOfGrants(range) as GrantRow[]).map(storedGrant)),

    importScopes: (records, completed) =>
      write(() => {
        for (const record of records) importScope(record, completed);
      }),
    importApplications: (records, completed) =>
      write(() => {
        for (const record of records) importApplication(record, completed);
      }),
    importAccounts: (records, completed) =>
      write(() => {
        for (const record of records) importAccount(record, completed);
      }),
    importGrants: (records) => write(() => records.forEach(importGrant)),

    presentOf: (kind, ids) =>
      run(() => {
        const find = statement(`SELECT 1 FROM ${kind} WHERE id = ?`);
        return new Set(ids.filter((id) => find.get(uuidToBytes(id)) !== undefined));
      }),
    findGrant: (grant_id) => run(() => findGrant(grant_id)),
    count: () =>
      run(() => {
        const counts = statement(`
          SELECT (SELECT count(*) FROM scopes) AS scopes,
            (SELECT count(*) FROM applications) AS applications,
            (SELECT count(*) FROM accounts) AS accounts,
            (SELECT count(*) FROM grants)
              - (SELECT count(*) FROM grants WHERE code_expires_at IS NOT NULL) AS grants`).get();
        return { ...counts } as unknown as RecordCounts;
      }),

    findEarlierCopy: () =>
      run(() => {
        const row = statement('SELECT source, completed FROM copied_from').get();
        return row ? { source: row.source as string, completed: row.completed === 1 } : null;
      }),
    noteCopy: ({ source, completed }) =>
      write(() => {
        statement('DELETE FROM copied_from').run();
        statement('INSERT INTO copied_from VALUES (?, ?)').run(source, Number(completed));
      }),

    async close() {
      database.close();
    },
  };
}

const UNBOUND: CodeBinding = {
  redirect_uri: null,
  redirect_uri_given: false,
  code_challenge: null,
  link_id: null,
};

function storedGrant(row: GrantRow): StoredGrant {
  return {
    grant_id: uuidFromBytes(row.id),
    application_id: uuidFromBytes(row.application_id),
    details:
      row.account_id === null
        ? null
        : {
            scope: row.scope,
            account: accountRecord(row.account),
            code_hash: row.code_hash,
            ...binding(row),
          },
    created_at: row.created_at,
    secret_hash: row.secret_hash,
    first_used_at: row.first_used_at,
    revoked_at: row.revoked_at,
    recoveries: row.recoveries,
    recovered_at: row.recovered_at,
    issued_by: initiatorRecord(row.issued_by),
    redeemed_by: initiatorRecord(row.redeemed_by),
    first_used_by: initiatorRecord(row.first_used_by),
    recovered_by: initiatorRecord(row.recovered_by),
    revoked_by: initiatorRecord(row.revoked_by),
  };
}

function grantRow(grant: StoredGrant) {
  const { details } = grant;
  return {
    id: uuidToBytes(grant.grant_id),
    application_id: uuidToBytes(grant.application_id),
    account_id: details && uuidToBytes(details.account.id),
    scope: details?.scope ?? null,
    account: details && accountText(details.account),
    code_hash: details?.code_hash ?? null,
    ...bindingColumns(details ?? UNBOUND),
    created_at: grant.created_at,
    secret_hash: grant.secret_hash,
    first_used_at: grant.first_used_at,
    revoked_at: grant.revoked_at,
    recoveries: grant.recoveries,
    recovered_at: grant.recovered_at,
    issued_by: initiatorText(grant.issued_by),
    redeemed_by: initiatorText(grant.redeemed_by),
    first_used_by: initiatorText(grant.first_used_by),
    recovered_by: initiatorText(grant.recovered_by),
    revoked_by: initiatorText(grant.revoked_by),
  };
}
