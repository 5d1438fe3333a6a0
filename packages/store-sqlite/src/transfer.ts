import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { events } from '@latchkey/store/operations/events';
import { refuseToCopy } from '@latchkey/store/schema-version';
import { copiedOf, pageSite, replacementSite } from '@latchkey/store/sql/by-hand';
import type { Statement } from '@latchkey/store/sql/statement';
import type { Transfer } from '@latchkey/store/transfer';
import { alone, changesOf, dialect, sqliteAdapter, workOf } from './adapter.ts';
import { retryWhileLocked, rollBack, toStoreError } from './errors.ts';
import { refuseForeign } from './foreign-file.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { configure, lockForItself, openDatabase, refuseMountedAlone } from './open-database.ts';
import { versionOf } from './schema.ts';
import { useMarks } from './use-mark.ts';
import {
  closeAlone,
  closeBesideLog,
  closeDatabase,
  prepareVouch,
  refuseIncomplete,
} from './wal-mark.ts';

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
    refuseToCopy(version, path);
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
  const replaceMark = workOf(database, replacementSite(dialect));
  const makeDeliveries = events(sqliteAdapter(database, alone));
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

    read: (kind, page) => run(() => workOf(database, pageSite(dialect, kind))(page)),

    // One transaction: no other process can change the mark, and there is one wait for the disk.
    write(kind, { records, removed = [] }, mark) {
      const { name, key, fields } = kind;
      const names = Object.keys(fields);
      const given = (statement: Statement, field: string) =>
        statement.given(field, fields[field].type);
      const remove = changesOf(
        database,
        (statement) =>
          `DELETE FROM ${name} WHERE ${key} = ${given(statement, key)} AND ${copiedOf(kind)}`,
      );
      const put = changesOf(
        database,
        (statement) =>
          `REPLACE INTO ${name} (${names.join()}) VALUES (${names.map((one) => given(statement, one)).join()})`,
      );
      return run(() => {
        database.exec('BEGIN IMMEDIATE');
        try {
          const isOurs = replaceMark({ before: mark, after: mark });
          if (isOurs) {
            for (const one of removed) remove({ [key]: one });
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
    async makeDeliveries(now) {
      await run(() => database.exec('BEGIN IMMEDIATE'));
      try {
        while (await makeDeliveries(now)) {}
        database.exec('COMMIT');
      } catch (error) {
        rollBack(database);
        throw toStoreError(error);
      }
    },

    activity: async () => null,

    estimateGrants: () =>
      run(() => database.prepare('SELECT count(*) AS grants FROM grants').get()?.grants as number),

    async close() {
      close(database, path);
    },
  };
}
