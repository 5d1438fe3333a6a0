import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { ApplicationRecord, LogCounterRecord } from '@latchkey/store/records';
import { refuseToCopy } from '@latchkey/store/schema-version';
import {
  type CopiedKind,
  type CopiedRecords,
  erasedGrant,
  type StoredGrant,
  type Transfer,
} from '@latchkey/store/transfer';
import { prepareApplications } from './applications.ts';
import { deliveryRecord, deliveryRow } from './delivery-rows.ts';
import { type EndpointRow, endpointRecord, endpointRow } from './endpoints.ts';
import { retryWhileLocked, rollBack, toStoreError } from './errors.ts';
import { refuseForeign } from './foreign-file.ts';
import { keyRecord, keyRow } from './keys.ts';
import { migrations, versionOf } from './migrations.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { configure, lockForItself, openDatabase, refuseMountedAlone } from './open-database.ts';
import { prepareOutbox } from './outbox.ts';
import { resourceRecord, resourceRow } from './resources.ts';
import {
  accountText,
  type BindingRow,
  binding,
  bindingColumns,
  bytesOrNull,
  grantHistory,
  type HistoryRow,
  initiatorRecord,
  initiatorText,
  snapshotText,
} from './rows.ts';
import { scopeRecord, scopeRow } from './scopes.ts';
import { prepareUseMarks, useMarks } from './use-mark.ts';
import {
  closeAlone,
  closeBesideLog,
  closeDatabase,
  prepareVouch,
  refuseIncomplete,
} from './wal-mark.ts';

type Row = Record<string, string | number | Uint8Array | null>;
type Key = string | Uint8Array;

interface Copied<Record> {
  /** Less than every key. */
  first: Key;
  toKey(text: string): Key;
  read(after: Key, limit: number): Record[];
  put(record: Record): void;
  remove(key: Key): void;
}

const BY_ID = { first: new Uint8Array(), toKey: uuidToBytes };

/**
 * Opens a database to copy from.
 *
 * @param options.last - locks it until it is closed, so that no other process reads or changes it.
 *   Otherwise it is never changed
 * @throws Error if there is none, or its schema is not that of this version, or it is in use
 */
export async function openSqliteSource(
  path: string,
  { last = false }: { last?: boolean } = {},
): Promise<Transfer> {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}.`);
  refuseForeign(path);
  if (last) refuseMountedAlone(path);
  const database = new (nodeSqlite().DatabaseSync)(path, { readOnly: !last });
  let close = last ? closeBesideLog : closeReader;
  try {
    if (last) {
      if (!(await lockForItself(database))) {
        throw new Error(
          `A process uses ${path}. Stop every service and command that uses it, then copy again. Nothing was changed.`,
        );
      }
      close = closeAlone;
    }
    const version = await retryWhileLocked(() => versionOf(database, path));
    refuseToCopy(version, migrations, path);
    if (version === 0) throw new Error(`${path} is not a database of Latchkey.`);
    refuseIncomplete(database, path);
    if (last) {
      // It changes the file.
      configure(database);
      prepareVouch(database, path)(Date.now());
    }
    return transfer(database, path, close);
  } catch (error) {
    close(database, path);
    throw error;
  }
}

const closeReader = (database: DatabaseSync) => database.close();

export async function openSqliteTarget(path: string): Promise<Transfer> {
  refuseMountedAlone(path);
  return transfer(await openDatabase(path), path, closeDatabase);
}

function transfer(
  database: DatabaseSync,
  path: string,
  close: (database: DatabaseSync, path: string) => void,
): Transfer {
  const prepared = new Map<string, StatementSync>();
  function statement(sql: string): StatementSync {
    const found = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, found);
    return found;
  }

  function table<Record>(
    name: string,
    {
      key = 'id',
      condition = 'TRUE',
      ...convert
    }: {
      key?: string;
      condition?: string;
      toRecord(row: never): Record;
      toRow(record: Record): Row;
    },
  ): Copied<Record> {
    return {
      ...(key === 'id' ? BY_ID : { first: '', toKey: (text) => text }),
      read: (after, limit) =>
        statement(`SELECT * FROM ${name} WHERE ${condition} AND ${key} > ? ORDER BY ${key} LIMIT ?`)
          .all(after, limit)
          .map((row) => convert.toRecord(row as never)),
      put(record) {
        const row = convert.toRow(record);
        const columns = Object.keys(row);
        statement(
          `REPLACE INTO ${name} (${columns.join()}) VALUES (${columns.map((column) => `:${column}`).join()})`,
        ).run(row);
      },
      remove: (id) => void statement(`DELETE FROM ${name} WHERE ${key} = ?`).run(id),
    };
  }

  const kinds: { [Kind in CopiedKind]: Copied<CopiedRecords[Kind]> } = {
    scopes: table('scopes', {
      key: 'scope',
      toRecord: scopeRecord,
      toRow: scopeRow,
    }),
    resources: table('resources', { toRecord: resourceRecord, toRow: resourceRow }),
    keys: table('keys', { toRecord: keyRecord, toRow: keyRow }),
    applications: applications(database, statement),
    deletions: table('deleted_applications', {
      toRecord: (row: { id: Uint8Array; deleted_at: number; deleted_by: string }) => ({
        application_id: uuidFromBytes(row.id),
        deleted_at: row.deleted_at,
        deleted_by: initiatorRecord(row.deleted_by),
      }),
      toRow: ({ application_id, deleted_at, deleted_by }) => ({
        id: uuidToBytes(application_id),
        deleted_at,
        deleted_by: initiatorText(deleted_by),
      }),
    }),
    accounts: table('accounts', {
      toRecord: ({ place, account }: { place: Uint8Array; account: string }) => ({
        place: uuidFromBytes(place),
        account: JSON.parse(account),
      }),
      toRow: ({ place, account }) => ({
        id: uuidToBytes(account.id),
        place: uuidToBytes(place),
        account: accountText(account),
      }),
    }),
    grants: table('grants', {
      condition: 'created_at IS NOT NULL',
      toRecord: (row: GrantRow) => {
        const erasure =
          row.account_id &&
          statement('SELECT erased_at, erased_by FROM erasures WHERE id = ?').get(row.account_id);
        return erasure
          ? erasedGrant(storedGrant(row), {
              at: erasure.erased_at as number,
              by: initiatorRecord(erasure.erased_by as string),
            })
          : storedGrant(row);
      },
      toRow: grantRow,
    }),
    endpoints: table('endpoints', {
      toRecord: (row: EndpointRow) => ({ ...endpointRecord(row), hidden: row.hidden === 1 }),
      toRow: ({ hidden, ...endpoint }) => ({ ...endpointRow(endpoint), hidden: Number(hidden) }),
    }),
    deliveries: table('deliveries', {
      condition: 'due_at IS NOT NULL',
      toRecord: deliveryRecord,
      toRow: deliveryRow,
    }),
    command_changes: table('command_changes', {
      toRecord: ({ id, change }: { id: Uint8Array; change: string }) => ({
        id: uuidFromBytes(id),
        ...JSON.parse(change),
      }),
      toRow: ({ id, ...change }) => ({ id: uuidToBytes(id), change: JSON.stringify(change) }),
    }),
    log_counter: table('log_counter', {
      key: 'name',
      toRecord: (row: LogCounterRecord) => ({ ...row }),
      toRow: (record) => ({ ...record }),
    }),
  };
  const marks = prepareUseMarks(database);
  const { makeDeliveries } = prepareOutbox(database);
  async function run<T>(work: () => T): Promise<T> {
    try {
      return await retryWhileLocked(work);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  return {
    ...useMarks(database),
    name: `file:${resolve(path)}`,

    read: (kind, { after, limit }) => {
      const { first, toKey, read } = kinds[kind];
      return run(() => read(after === null ? first : toKey(after), limit));
    },

    // One transaction: no other process can change the mark, and there is one wait for the disk.
    write: (kind, { records, removed = [] }, mark) => {
      const { toKey, put, remove } = kinds[kind];
      return run(() => {
        database.exec('BEGIN IMMEDIATE');
        try {
          const isOurs = marks.replace(mark, mark);
          if (isOurs) {
            for (const key of removed) remove(toKey(key));
            for (const record of records) put(record);
          }
          database.exec('COMMIT');
          return isOurs;
        } catch (error) {
          rollBack(database);
          throw error;
        }
      });
    },

    // No other process has the database, so it is one transaction.
    makeDeliveries: (now) =>
      run(() => {
        database.exec('BEGIN IMMEDIATE');
        while (makeDeliveries(now)) {}
        database.exec('COMMIT');
      }),

    activity: async () => null,

    estimateGrants: () =>
      run(() => statement('SELECT count(*) AS grants FROM grants').get()?.grants as number),

    async close() {
      close(database, path);
    },
  };
}

/** An application is in two tables. */
function applications(
  database: DatabaseSync,
  statement: (sql: string) => StatementSync,
): Copied<ApplicationRecord> {
  const { findApplication, createApplication } = prepareApplications(database);
  function remove(id: Key): void {
    statement('DELETE FROM application_secrets WHERE application_id = ?').run(id);
    statement('DELETE FROM applications WHERE id = ?').run(id);
  }
  return {
    ...BY_ID,
    read: (after, limit) =>
      statement('SELECT id FROM applications WHERE id > ? ORDER BY id LIMIT ?')
        .all(after, limit)
        .flatMap(({ id }) => findApplication(uuidFromBytes(id as Uint8Array)) ?? []),
    put(application) {
      remove(uuidToBytes(application.id));
      createApplication(application);
    },
    remove,
  };
}

type GrantRow = HistoryRow &
  BindingRow & {
    created_at: number;
    secret_hash: Uint8Array | null;
    last_used_at: number | null;
    scope: string | null;
    account: string | null;
    code_hash: Uint8Array | null;
  };

function storedGrant(row: GrantRow): StoredGrant {
  const { created_at, secret_hash, last_used_at, scope, account, code_hash } = row;
  return {
    ...grantHistory(row),
    ...binding(row),
    ...{ created_at, secret_hash, last_used_at, scope, code_hash },
    account: account === null ? null : JSON.parse(account),
  };
}

function grantRow({ grant_id, ...grant }: StoredGrant): Row {
  return {
    ...grant,
    ...bindingColumns(grant),
    id: uuidToBytes(grant_id),
    application_id: uuidToBytes(grant.application_id),
    account_id: bytesOrNull(grant.account_id),
    account: grant.account && snapshotText(grant.account),
    issued_by: initiatorText(grant.issued_by),
    redeemed_by: initiatorText(grant.redeemed_by),
    first_used_by: initiatorText(grant.first_used_by),
    recovered_by: initiatorText(grant.recovered_by),
    revoked_by: initiatorText(grant.revoked_by),
  };
}
