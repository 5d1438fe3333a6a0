import { events } from '@latchkey/store/operations/events';
import { refuseToCopy } from '@latchkey/store/schema-version';
import { defaultTimeouts } from '@latchkey/store/server-store';
import { copiedOf, pageSite, sqlUseMarks } from '@latchkey/store/sql/by-hand';
import type { Statement } from '@latchkey/store/sql/statement';
import type { Transfer } from '@latchkey/store/transfer';
import { postgresqlAdapter } from './adapter.ts';
import { Database, type Send } from './database.ts';
import { dialect } from './dialect.ts';
import { FENCED } from './fence.ts';
import { createSchema, refuseNew, versionOf } from './schema.ts';
import { senderOf, shared, valuesOfAll } from './statements.ts';

/** What the server calls the connections of a copy, which are not those of a service. */
const APPLICATION_NAME = 'latchkey copy';

/** @throws Error if there is none, or its schema is not that of this version */
export const openPostgresqlSource = (url: string): Promise<Transfer> =>
  openTransfer(url, refuseNew);

export const openPostgresqlTarget = (url: string): Promise<Transfer> =>
  openTransfer(url, createSchema);

async function openTransfer(
  url: string,
  prepare: (send: Send) => Promise<void>,
): Promise<Transfer> {
  const database: Database = new Database(
    url,
    defaultTimeouts,
    () => prepare(send),
    APPLICATION_NAME,
  );
  const send: Send = (text, values) => database.send(text, values);
  try {
    await database.prepare();
    const name = nameOf(url);
    refuseToCopy(await versionOf(send), name);
    return transfer(database, name);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Without credentials and options. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgresql://${host}${pathname}`;
}

function transfer(database: Database, name: string): Transfer {
  const sender = senderOf(database);
  return {
    ...sqlUseMarks(dialect, sender),
    name,

    read: (kind, page) => sender.read(pageSite(dialect, kind))(page),

    write(kind, { records, removed = [] }, mark) {
      const { name: table, key, fields } = kind;
      const names = Object.keys(fields);
      const given = (statement: Statement, field: string) =>
        statement.given(field, fields[field].type);
      const remove = shared(
        (statement) =>
          ` DELETE FROM ${table} USING i WHERE ${key} = ${given(statement, key)} AND ${copiedOf(kind)}`,
      );
      const put = shared(
        (statement) =>
          ` INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((field) => given(statement, field)).join(', ')} FROM i
          ON CONFLICT (${key}) DO UPDATE SET ${names.map((field) => `${field} = excluded.${field}`).join(', ')}`,
      );
      const held = `SELECT FROM use_mark WHERE mark = $1 AND ${FENCED} FOR UPDATE`;
      return database.transaction(async (send) => {
        // It stays as it is until the transaction has ended.
        if ((await send(held, [JSON.stringify(mark)])).length === 0) return false;
        const keys = removed.map((one) => ({ [key]: one }));
        await send(remove.text, valuesOfAll(remove, keys));
        await send(put.text, valuesOfAll(put, records));
        return true;
      });
    },

    async makeDeliveries(now) {
      const makeDeliveries = events(postgresqlAdapter(database));
      while (await makeDeliveries(now, { isDecisive: true })) {}
    },

    // A service that has nothing to do looks at the marks of events, and at its use mark.
    async activity() {
      const [found] = await database.read(
        `SELECT coalesce(sum(extract(epoch FROM query_start) * 1e6), 0)::bigint AS moment FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'latchkey'`,
      );
      return found?.moment;
    },

    async estimateGrants() {
      const [found] = await database.read('SELECT count(*) AS grants FROM grants');
      return found?.grants;
    },

    close: () => database.close(),
  };
}
