import type { Clock } from '@latchkey/domain/clock';
import type { KeyFingerprints } from '@latchkey/store/events-keys';
import { operations as declared } from '@latchkey/store/operations/operations';
import {
  defaultTimeouts,
  prepareAtStart,
  type Timeouts,
  watchForCopy,
} from '@latchkey/store/server-store';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { claimDatabase, refuseCopied } from '@latchkey/store/use-mark';
import { mongoAdapter } from './adapter.ts';
import { mongoByHand } from './by-hand.ts';
import { createClient } from './client.ts';
import { watchClocks } from './clocks.ts';
import { counts } from './counts.ts';
import { Database } from './database.ts';
import { isForbidden } from './errors.ts';
import { watchPool } from './pool.ts';
import { sizesIn } from './sizes.ts';
import { claimed } from './use-mark.ts';

export interface MongoStoreOptions extends StoreOptions {
  url: string;
  timeouts?: Partial<Timeouts>;
}

const findMark = (database: Database) =>
  database.read((collections) => claimed(collections).find());

export function operations(
  database: Database,
  clock: Clock,
  recordsEvents = false,
  days: number | null = null,
) {
  const adapter = mongoAdapter(database, { recordsEvents });
  const housekeeping = { days, sweepsEndpoints: recordsEvents };
  return {
    ...declared(adapter, clock, mongoByHand(database), housekeeping),
    ...counts(database),

    admitEventsKeys: (eventsKeys: KeyFingerprints) =>
      database.writeOnce((collections) =>
        claimDatabase(claimed(collections), { evenIfCopied: false, eventsKeys }),
      ),
    findEventsKeys: async () => (await findMark(database))?.events_keys,
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
  const look = async () => refuseCopied(await findMark(database), `The database ${name}`);
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
