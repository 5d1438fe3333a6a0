import type { StoreOptions } from '../open-store.ts';
import type { Store } from '../store.ts';
import { accounts } from './accounts.ts';
import { applications } from './applications.ts';
import { codes } from './codes.ts';
import { Connection } from './connection.ts';
import { PermanentFault } from './faults.ts';
import { grants } from './grants.ts';
import { rateLimits } from './rate-limits.ts';
import { refusals } from './refusals.ts';
import { clientFor, defaultPatience, type Patience } from './settings.ts';

export interface MongoStoreOptions extends StoreOptions {
  /** `mongodb://` or `mongodb+srv://`; the path names the database, `latchkey` where there is none. */
  url: string;
  /** How long to wait for what; a few seconds each, unless told. */
  patience?: Partial<Patience>;
}

/**
 * Opens a store in MongoDB 7.0 or later: a replica set or a sharded cluster; a standalone server
 * works too, with no more durability than it has.
 *
 * Where the database can't be reached now, the store is returned all the same: its methods throw
 * `store_unavailable` until the database is there. `onError` hears why.
 *
 * @throws Error with one line for a person, where the URL or the database refuses for good: a
 *   wrong password, a server that is too old, an index in the way
 */
export async function openMongoStore(options: MongoStoreOptions): Promise<Store> {
  const patience = { ...defaultPatience, ...options.patience };
  const { client, name } = clientFor(options.url, patience);
  const connection = new Connection(client, name, patience);
  try {
    await connection.prepare();
  } catch (error) {
    if (error instanceof PermanentFault) {
      await connection.close();
      throw error;
    }
    options.onError?.(error);
  }
  return {
    ...applications(connection),
    ...accounts(connection),
    ...codes(connection, options.clock),
    ...grants(connection),
    ...refusals(connection),
    ...rateLimits(connection),

    isLocal: false,
    ping: () =>
      connection.read(async ({ db, decisive: { maxTimeMS } }) => {
        await db.command({ ping: 1, maxTimeMS });
      }),

    close: () => connection.close(),
  };
}
