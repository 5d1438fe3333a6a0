import { setTimeout } from 'node:timers/promises';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { sweep } from '@latchkey/store-suite/finish';
import type { StoreHarness, TestDatabase } from '@latchkey/store-suite/harness';
import { query } from '@latchkey/test-kit/postgresql/query';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { expect, onTestFinished } from 'vitest';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { openPostgresqlTarget } from '../src/transfer.ts';

const module = new URL('../src/driver.ts', import.meta.url).href;

/** The suite has no faults: a busy machine causes no timeout. */
const timeouts = { connect: 30_000, operation: 30_000 };

/** Creates databases for the suite on a server. */
export function postgresqlHarness(server: string): StoreHarness {
  return {
    sweepTimeout: 60_000,
    expiredCodesKept: 0,

    async fresh(): Promise<TestDatabase> {
      const url = await createDatabase(server);
      const open = (options: Pick<StoreOptions, 'recordsEvents' | 'claim'> = {}) =>
        openPostgresqlStore({ url, clock: Date.now, timeouts, ...options });
      const sweepAt = async (now: number, options: Partial<StoreOptions> = {}) => {
        const store = await openPostgresqlStore({ url, clock: () => now, timeouts, ...options });
        await sweep(store, now);
        await store.close();
      };
      const isThere = async (store: Store, grant_id: string) =>
        (await store.findCode(grant_id)) !== null;
      return {
        ...{ module, url, open },
        openTarget: () => openPostgresqlTarget(url),
        async waitForSweep(grant_id) {
          const store = await open();
          while (await isThere(store, grant_id)) {
            await sweep(store, Date.now());
            await setTimeout(50);
          }
          await store.close();
        },
        reduceRevoked: (revokedGrantDays, now) => sweepAt(now, { revokedGrantDays }),
        sweep: (now) => sweepAt(now, { recordsEvents: true }),
        async membersOf(kind, id) {
          const [row = {}] = await query(url, `SELECT * FROM ${kind} WHERE id = $1`, [id]);
          return Object.entries(row).flatMap(([name, value]) => (isSet(value) ? [name] : []));
        },
        remove: () => dropDatabase(url),
      };
    },
  };
}

/** A database that goes at the end of its test. */
export async function newDatabaseOn(server: string): Promise<string> {
  const url = await createDatabase(server);
  onTestFinished(() => dropDatabase(url));
  return url;
}

/** Until so many statements of a database wait for a lock. */
export const waiting = (url: string, count: number) =>
  expect
    // Over another connection than that of a transaction, in which this stays as it was.
    .poll(() =>
      query(
        url,
        // The keeper of the indexes may wait as well.
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE 'CREATE%'",
      ),
    )
    .toHaveLength(count);

/** As text, `pg` returns a number of the type bigint. */
const isSet = (value: unknown) => value !== null && value !== false && value !== '0';
