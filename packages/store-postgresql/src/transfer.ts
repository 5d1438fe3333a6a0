import type { AnyKind, Field } from '@latchkey/store/kind';
import { events } from '@latchkey/store/operations/events';
import { refuseToCopy } from '@latchkey/store/schema-version';
import { defaultTimeouts } from '@latchkey/store/server-store';
import { sqlUseMarks } from '@latchkey/store/sql/by-hand';
import { decoderOf } from '@latchkey/store/sql/statement';
import type { Transfer } from '@latchkey/store/transfer';
import { postgresqlAdapter } from './adapter.ts';
import { Database, type Send } from './database.ts';
import { dialect, types } from './dialect.ts';
import { FENCED } from './fence.ts';
import { createSchema, refuseNew, versionOf } from './schema.ts';
import { senderOf } from './statements.ts';
import { holdMark } from './use-mark.ts';

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
  return {
    ...sqlUseMarks(dialect, senderOf(database)),
    name,

    async read(kind, { after, limit }) {
      const names = Object.keys(kind.fields);
      const isBehind = after === null ? 'TRUE' : `${kind.key} > $2`;
      const rows = await database.read(
        `SELECT ${names.join(', ')} FROM ${kind.name}
         WHERE ${copiedOf(kind)} AND ${isBehind} AND ${FENCED} ORDER BY ${kind.key} LIMIT $1`,
        after === null ? [limit] : [limit, after],
      );
      return rows.map(decoderOf(dialect, kind, names));
    },

    write(kind, { records, removed = [] }, mark) {
      const { name: table, key } = kind;
      const fields = Object.entries(kind.fields) as [string, Field<unknown>][];
      const names = fields.map(([field]) => field);
      const columns = fields.map(([, { type }], index) => `$${index + 1}::${types[type]}[]`);
      const values = fields.map(([field, { type }]) =>
        records.map((record) => {
          const value = record[field] ?? null;
          return value === null ? null : dialect.encode[type](value as never);
        }),
      );
      return database.transaction(async (send) => {
        if (!(await holdMark(send, mark))) return false;
        const typeOfKey = types[(kind.fields[key] as Field<unknown>).type];
        await send(
          `DELETE FROM ${table} WHERE ${key} = ANY ($1::${typeOfKey}[]) AND ${copiedOf(kind)}`,
          [removed],
        );
        await send(
          `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM unnest(${columns.join(', ')})
           ON CONFLICT (${key}) DO UPDATE SET
             ${names.map((field) => `${field} = excluded.${field}`).join(', ')}`,
          values,
        );
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

const copiedOf = ({ copied }: AnyKind) =>
  copied === 'all' || copied === undefined ? 'TRUE' : `${copied.set} IS NOT NULL`;
