import type { Clock } from '@latchkey/domain/clock';
import type { ByHand } from '@latchkey/store/operations/by-hand';
import { operations as declared } from '@latchkey/store/operations/operations';
import {
  defaultTimeouts,
  prepareAtStart,
  type Timeouts,
  watchForCopy,
} from '@latchkey/store/server-store';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { refuseCopied } from '@latchkey/store/use-mark';
import { mongoAdapter } from './adapter.ts';
import { createClient } from './client.ts';
import { watchClocks } from './clocks.ts';
import { connectedApplications } from './connected.ts';
import { counts } from './counts.ts';
import { Database } from './database.ts';
import { isForbidden } from './errors.ts';
import { eventsKeys } from './events-keys.ts';
import { countPending, endpointsWithDue } from './pending.ts';
import { watchPool } from './pool.ts';
import { rateLimits } from './rate-limits.ts';
import { sizesIn } from './sizes.ts';
import { useMarks } from './use-mark.ts';

export interface MongoStoreOptions extends StoreOptions {
  url: string;
  timeouts?: Partial<Timeouts>;
}

export function operations(
  database: Database,
  clock: Clock,
  recordsEvents = false,
  days: number | null = null,
) {
  const adapter = mongoAdapter(database, { recordsEvents });
  // What expires, MongoDB removes by itself.
  const byHand: ByHand = {
    connectedApplications: (account_id) => connectedApplications(database, account_id),
    endpointsWithDue: (by) => endpointsWithDue(database, by),
    countPending: (limit) => countPending(database, limit),
    emptyLog: async () => true,
  };
  return {
    ...declared(adapter, clock, byHand, { days, sweepsEndpoints: recordsEvents }),
    ...eventsKeys(database),
    ...counts(database),
    ...rateLimits(database),
  };
}

/**
 * Until the database can be reached, the methods throw `store_unavailable`.
 *
 * @throws BadSetting if waiting does not help
 * @throws UnusableDatabase
 */
export async function openMongoStore(options: MongoStoreOptions): Promise<Store> {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const { client, name } = createClient(options.url, timeouts);
  const connectionPool = watchPool(client);
  const clockDifference = watchClocks(client, options.onWarning);
  const { revokedGrantDays: days = null, clock, recordsEvents = false } = options;
  const { create, claim, onWarning, onCopied } = options;
  const database = new Database(client, name, timeouts, options.onError, {
    ...{ reducesRevoked: days !== null, create, claim },
    ...(onWarning && { onWarning }),
  });
  await prepareAtStart(database, options.onError);

  const store = operations(database, clock, recordsEvents, days);
  const look = () =>
    database.read(async ({ db, ...concerns }) =>
      refuseCopied(await useMarks(db, concerns).find(), `The database ${db.databaseName}`),
    );
  const endWatch = watchForCopy(look, onCopied);

  return {
    ...store,
    connectionPool,
    clockDifference,
    measure: () =>
      database.read(async ({ db, decisive: { maxTimeMS } }) => {
        try {
          const { database: bytes, free } = sizesIn(await db.command({ dbStats: 1, maxTimeMS }));
          return { database_bytes: bytes, free_bytes: free, backed_up_at: null };
        } catch (error) {
          // It is asked every few seconds, and nothing depends on the answer.
          if (!isForbidden(error)) throw error;
          return { database_bytes: Number.NaN, free_bytes: null, backed_up_at: null };
        }
      }),
    ping: () =>
      database.read(async ({ db, decisive: { maxTimeMS } }) => {
        await db.command({ ping: 1, maxTimeMS });
      }),

    close() {
      endWatch();
      return database.close();
    },
  };
}
