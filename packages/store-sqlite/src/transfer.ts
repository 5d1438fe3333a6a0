import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import {
  type CopiedAs,
  clientDocumentsOf,
  copiedAs,
  copiedInOne,
  pageOf,
} from '@latchkey/store/copied';
import { clientDocuments } from '@latchkey/store/kinds';
import type { ApplicationRecord } from '@latchkey/store/records';
import { refuseToCopy } from '@latchkey/store/schema-version';
import { decoderOf } from '@latchkey/store/sql';
import {
  type CopiedKind,
  type CopiedRecords,
  erasedGrant,
  type StoredGrant,
  type Transfer,
} from '@latchkey/store/transfer';
import { dialect, rowOf } from './adapter.ts';
import { deliveryRecord, deliveryRow } from './delivery-rows.ts';
import { type EndpointRow, EXISTING, endpointRecord, endpointRow } from './endpoints.ts';
import { retryWhileLocked, rollBack, toStoreError } from './errors.ts';
import { refuseForeign } from './foreign-file.ts';
import { migrations, versionOf } from './migrations.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { configure, lockForItself, openDatabase, refuseMountedAlone } from './open-database.ts';
import { prepareOutbox } from './outbox.ts';
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
import { prepareUseMarks, useMarks } from './use-mark.ts';
import {
  closeAlone,
  closeBesideLog,
  closeDatabase,
  prepareVouch,
  refuseIncomplete,
} from './wal-mark.ts';

type Row = Record<string, SQLInputValue>;
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
      columns = '*',
      condition = 'TRUE',
      ...convert
    }: {
      key?: string;
      columns?: string;
      condition?: string;
      toRecord(row: never): Record;
      toRow(record: Record): Row;
    },
  ): Copied<Record> {
    return {
      ...(key === 'id' ? BY_ID : { first: '', toKey: (text) => text }),
      read: (after, limit) =>
        statement(
          `SELECT ${columns} FROM ${name} WHERE ${condition} AND ${key} > ? ORDER BY ${key} LIMIT ?`,
        )
          .all(after, limit)
          .map((row) => convert.toRecord(row as never)),
      put(record) {
        const row = convert.toRow(record);
        const columns = Object.keys(row);
        statement(
          `REPLACE INTO ${name} (${columns.join()}) VALUES (${columns.map((column) => `:${column}`).join()})`,
        ).run(row);
      },
      remove: (id) =>
        void statement(`DELETE FROM ${name} WHERE ${key} = ? AND ${condition}`).run(id),
    };
  }

  function declared<Kind extends CopiedKind>(name: Kind): Copied<CopiedRecords[Kind]> {
    const { kind, where, toCopy, toStored } = copiedAs[name] as CopiedAs<CopiedRecords[Kind]>;
    const conditionOf = () => {
      if (where === undefined) return 'TRUE';
      return 'set' in where ? `${where.set} IS NOT NULL` : `${where.unset} IS NULL`;
    };
    const decode = decoderOf(dialect, kind, Object.keys(kind.fields));
    const toRow = rowOf(kind);
    return table(kind.name, {
      ...{ key: kind.key, condition: conditionOf() },
      toRecord: (row: Row) => toCopy(decode(row)),
      toRow: (copy) => toRow(toStored(copy)),
    });
  }

  function inOne<Kind extends keyof typeof copiedInOne>(name: Kind): Copied<CopiedRecords[Kind]> {
    type Item = { id: string };
    const { toCopy, toStored } = copiedInOne[name];
    const read = (): Item[] => {
      const row = statement(`SELECT list FROM ${name}`).get();
      return row ? JSON.parse(row.list as string) : [];
    };
    const replace = (id: Key, ...records: Item[]) => {
      const list = [...read().filter((one) => one.id !== id), ...records];
      statement(`REPLACE INTO ${name} (name, list) VALUES ('all', ?)`).run(JSON.stringify(list));
    };
    return {
      ...{ first: '', toKey: (text) => text },
      read: (after, limit) =>
        pageOf(read(), { after: after as string, limit }).map(toCopy) as CopiedRecords[Kind][],
      put: (record) => replace(record.id, toStored(record)),
      remove: (id) => replace(id),
    };
  }

  /** By which documented applications are found. */
  function withDocuments(applications: Copied<ApplicationRecord>): Copied<ApplicationRecord> {
    const documents = table(clientDocuments.name, {
      ...{ key: clientDocuments.key, toRecord: (row) => row, toRow: rowOf(clientDocuments) },
    });
    function remove(id: Key): void {
      statement('DELETE FROM client_documents WHERE application_id = ?').run(id);
      applications.remove(id);
    }
    return {
      ...applications,
      put(application) {
        remove(uuidToBytes(application.id));
        applications.put(application);
        for (const document of clientDocumentsOf([application])) documents.put(document);
      },
      remove,
    };
  }

  const kinds: { [Kind in CopiedKind]: Copied<CopiedRecords[Kind]> } = {
    scopes: declared('scopes'),
    resources: inOne('resources'),
    keys: inOne('keys'),
    applications: withDocuments(declared('applications')),
    deletions: declared('deletions'),
    accounts: table('accounts', {
      condition: 'account IS NOT NULL',
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
          statement(
            'SELECT erased_at, erased_by FROM accounts WHERE id = ? AND erased_at IS NOT NULL',
          ).get(row.account_id);
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
      columns: `*, NOT ${EXISTING} AS hidden`,
      toRecord: ({ hidden, ...row }: EndpointRow & { hidden: number }) => ({
        ...endpointRecord(row),
        hidden: hidden === 1,
      }),
      toRow: ({ hidden: _, ...endpoint }) => endpointRow(endpoint),
    }),
    deliveries: table('deliveries', {
      condition: 'due_at IS NOT NULL',
      toRecord: deliveryRecord,
      toRow: deliveryRow,
    }),
    command_changes: declared('command_changes'),
    log_counter: declared('log_counter'),
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
