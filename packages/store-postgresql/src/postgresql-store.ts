import type { ByHand } from '@latchkey/store/operations/by-hand';
import { operations as declared } from '@latchkey/store/operations/operations';
import {
  defaultTimeouts,
  prepareAtStart,
  type Timeouts,
  watchForCopy,
} from '@latchkey/store/server-store';
import { sqlByHand, sqlClaimed, sqlCounts } from '@latchkey/store/sql/by-hand';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { claimDatabase, refuseCopied } from '@latchkey/store/use-mark';
import { postgresqlAdapter } from './adapter.ts';
import { Database, type Send } from './database.ts';
import { dialect } from './dialect.ts';
import { FENCED } from './fence.ts';
import { keepIndexes, keptIndexes } from './index-keeper.ts';
import { poolNumbers } from './pool.ts';
import { checkRights } from './rights.ts';
import { createSchema, refuseNew, TABLES } from './schema.ts';
import { askServer, warningsOf } from './server.ts';
import { senderOf } from './statements.ts';
import { sweepIn } from './sweep.ts';

export interface PostgresqlStoreOptions extends StoreOptions {
  url: string;
  timeouts?: Partial<Timeouts>;
}

function operations(
  database: Database,
  { clock, recordsEvents = false, revokedGrantDays: days = null }: PostgresqlStoreOptions,
) {
  const adapter = postgresqlAdapter(database, { recordsEvents });
  const sender = senderOf(database);
  const byHand: ByHand = {
    ...sqlByHand(dialect, sender),
    emptyLog: async () => true,
    sweepExpired: sweepIn(database),
  };
  return {
    ...declared(adapter, clock, byHand, { days, sweepsEndpoints: recordsEvents }),
    ...sqlCounts(dialect, sender),
  };
}

/**
 * Until the database can be reached, the methods throw `store_unavailable`.
 *
 * @throws BadSetting if waiting does not help
 * @throws UnusableDatabase
 */
export async function openPostgresqlStore(options: PostgresqlStoreOptions): Promise<Store> {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const {
    revokedGrantDays: days = null,
    create = true,
    claim,
    onWarning,
    onCopied,
    onError = () => undefined,
  } = options;
  let endKeeper: (() => Promise<void>) | undefined;
  let closing: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    const send: Send = (text, values) => database.send(text, values);
    for (const warning of warningsOf(await askServer(send))) onWarning?.(warning);
    if (create) await createSchema(send);
    else await refuseNew(send);
    await checkRights(send, TABLES);
    const own = sqlClaimed(dialect, senderOf({ read: send, write: send }), name);
    if (claim) await claimDatabase(own, claim, onWarning);
    if (!create || closing) return;
    const looks = { interval: timeouts.indexCheck, onError };
    endKeeper = keepIndexes(send, keptIndexes(days !== null), looks);
  }

  const database = new Database(options.url, timeouts, prepare);
  const name = `The database ${decodeURIComponent(new URL(options.url).pathname.slice(1))}`;
  await prepareAtStart(database, onError);

  const marked = sqlClaimed(dialect, senderOf(database), name);
  const endWatch = watchForCopy(async () => refuseCopied(await marked.find(), name), onCopied);

  async function close(): Promise<void> {
    endWatch();
    await endKeeper?.();
    await database.close();
  }

  return {
    ...operations(database, options),

    connectionPool: () => poolNumbers(database.pool),
    async measure() {
      const [found] = await database.read(
        'SELECT pg_database_size(current_database()) AS database_bytes',
      );
      // PostgreSQL does not tell how much of the disk is free.
      return { database_bytes: found?.database_bytes, free_bytes: null, backed_up_at: null };
    },

    admitEventsKeys: (eventsKeys) => claimDatabase(marked, { evenIfCopied: false, eventsKeys }),
    findEventsKeys: async () => (await marked.find())?.events_keys,

    async ping() {
      await database.read(`SELECT WHERE ${FENCED}`);
    },

    close: () => (closing ??= close()),
  };
}
