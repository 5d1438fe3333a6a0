import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Clock } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import { operations as declared } from '@latchkey/store/operations/operations';
import { reduction } from '@latchkey/store/operations/reduction';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import { CopiedDatabase, claimDatabase, refuseCopied } from '@latchkey/store/use-mark';
import { postgresqlAdapter } from './adapter.ts';
import { connectedApplications } from './connected.ts';
import { counts } from './counts.ts';
import { Database, type Send } from './database.ts';
import { FENCED } from './fence.ts';
import { IndexKeeper, keptIndexes } from './index-keeper.ts';
import { countPending, endpointsWithDue } from './pending.ts';
import { poolNumbers } from './pool.ts';
import { rateLimits } from './rate-limits.ts';
import { checkRights } from './rights.ts';
import { createSchema, refuseNew, TABLES } from './schema.ts';
import { askServer, warningsOf } from './server.ts';
import { measure } from './sizes.ts';
import { sweep } from './sweep.ts';
import { defaultTimeouts, type Timeouts } from './timeouts.ts';
import { claimed } from './use-mark.ts';

export interface PostgresqlStoreOptions extends StoreOptions {
  url: string;
  timeouts?: Partial<Timeouts>;
}

export function operations(
  database: Database,
  clock: Clock,
  recordsEvents = false,
  days: number | null = null,
) {
  const adapter = postgresqlAdapter(database, { recordsEvents });
  const { sweepEndpoints, ...ofRecords } = declared(adapter, clock, {
    connectedApplications: (account_id) => connectedApplications(database, account_id),
    endpointsWithDue: (by) => endpointsWithDue(database, by),
    countPending: (limit) => countPending(database, limit),
    emptyLog: async () => true,
  });
  return {
    ...ofRecords,
    housekeeping: [
      { name: 'expired', step: (now: number, limit: number) => sweep(database, now, limit) },
      ...(days === null ? [] : [{ name: 'reduction', step: reduction(adapter, days) }]),
      ...(recordsEvents ? [{ name: 'endpoints', step: sweepEndpoints }] : []),
    ],
    ...counts(database),
    ...rateLimits(database),
  };
}

const LOOK_EVERY_MS = 10_000;

/**
 * Until the database can be reached, the methods throw `store_unavailable`.
 *
 * @throws BadSetting if waiting does not help
 * @throws UnusableDatabase
 */
export async function openPostgresqlStore(options: PostgresqlStoreOptions): Promise<Store> {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const { revokedGrantDays: days = null, clock, recordsEvents = false, create = true } = options;
  const { claim, onWarning, onCopied, onError = () => undefined } = options;
  let keeper: IndexKeeper | undefined;
  let closing: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    const send: Send = (text, values) => database.send(text, values);
    for (const warning of warningsOf(await askServer(send))) onWarning?.(warning);
    if (create) await createSchema(send);
    else await refuseNew(send);
    await checkRights(send, TABLES);
    if (claim) await claimDatabase(claimed({ read: send, write: send }, name), claim, onWarning);
    if (!create || closing) return;
    const indexes = keptIndexes(days !== null);
    keeper = new IndexKeeper(send, { indexes, interval: timeouts.indexCheck, onError });
    keeper.start();
  }

  const database = new Database(options.url, timeouts, prepare);
  const name = `The database ${decodeURIComponent(new URL(options.url).pathname.slice(1))}`;
  try {
    await database.prepare();
  } catch (error) {
    if (error instanceof BadSetting || error instanceof UnusableDatabase) {
      await database.close();
      throw error;
    }
    onError(error);
  }

  const marked = claimed(database, name);
  async function look(): Promise<void> {
    try {
      refuseCopied(await marked.find(), name);
    } catch (error) {
      // It is the cause if the database was copied before it could be reached.
      const why = error instanceof DomainError ? error.cause : error;
      if (why instanceof CopiedDatabase) onCopied?.(why);
    }
  }
  const looking = onCopied && setInterval(look, LOOK_EVERY_MS).unref();

  async function close(): Promise<void> {
    clearInterval(looking);
    await keeper?.close();
    await database.close();
  }

  return {
    ...operations(database, clock, recordsEvents, days),

    connectionPool: () => poolNumbers(database.pool),
    measure: () => measure(database),

    admitEventsKeys: (eventsKeys) => claimDatabase(marked, { evenIfCopied: false, eventsKeys }),
    findEventsKeys: async () => (await marked.find())?.events_keys,

    async ping() {
      await database.read(`SELECT WHERE ${FENCED}`);
    },

    close: () => (closing ??= close()),
  };
}
