import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreOptions } from '@latchkey/store/store';
import { sweep } from '@latchkey/store-suite/finish';
import type { StoreHarness, TestDatabase } from '@latchkey/store-suite/harness';
import {
  dropDatabase,
  freshName,
  nodeArgumentsFor,
  patientUrlOf,
} from '@latchkey/test-kit/mongodb/test-databases';
import { type Binary, MongoClient } from 'mongodb';
import { EXPIRY_MARGIN } from '../src/clocks.ts';
import { openMongoStore } from '../src/mongo-store.ts';
import { openMongoTarget } from '../src/transfer.ts';
import { toId } from '../src/values.ts';

const module = new URL('../src/driver.ts', import.meta.url).href;

/** The suite has no faults: a busy machine causes no timeout. */
const timeouts = { operation: 30_000 };

/** Creates databases for the suite on a server. */
export function mongoHarness(server: string): StoreHarness {
  return {
    async fresh(): Promise<TestDatabase> {
      const name = freshName();
      const url = patientUrlOf(server, name);
      const open = (options: Pick<StoreOptions, 'recordsEvents' | 'claim'> = {}) =>
        openMongoStore({ url, clock: Date.now, timeouts, ...options });
      return {
        ...{ module, url, open },
        nodeArguments: nodeArgumentsFor(url),
        openTarget: () => openMongoTarget(url),
        async waitForSweep(grant_id) {
          const store = await open();
          while ((await store.findCode(grant_id)) !== null) await sleep(500);
          await store.close();
        },
        async reduceRevoked(revokedGrantDays, now) {
          const store = await openMongoStore({ url, clock: () => now, timeouts, revokedGrantDays });
          await sweep(store, now);
          await store.close();
        },
        async sweep(now) {
          const store = await openMongoStore({
            url,
            clock: () => now,
            timeouts,
            recordsEvents: true,
          });
          await sweep(store, now);
          await store.close();
        },
        async membersOf(kind, id) {
          const client = await new MongoClient(server).connect();
          const found = await client
            .db(name)
            .collection<{ _id: Binary }>(kind)
            .findOne({ _id: toId(id) });
          await client.close();
          return Object.keys(found ?? {});
        },
        remove: () => dropDatabase(server, name),
      };
    },

    // MongoDB deletes expired documents once a minute.
    sweepTimeout: 150_000,
    expiredCodesKept: EXPIRY_MARGIN,
  };
}
