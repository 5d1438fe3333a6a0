import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { uuidToBytes } from '@latchkey/schema';
import type { StoreOptions } from '@latchkey/store/store';
import { sweep } from '@latchkey/store-suite/finish';
import type { StoreHarness, TestDatabase } from '@latchkey/store-suite/harness';
import { openSqliteStore } from '../src/sqlite-store.ts';
import { openSqliteTarget } from '../src/transfer.ts';

export const sqliteModule = new URL('../src/driver.ts', import.meta.url).href;

/** A database in a directory of its own. */
export interface SqliteTestDatabase extends TestDatabase {
  path: string;
}

export const sqliteHarness = {
  sweepTimeout: 60_000,
  expiredCodesKept: 0,

  async fresh(): Promise<SqliteTestDatabase> {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-sqlite-'));
    const path = join(directory, 'latchkey.db');
    const open = (options: Pick<StoreOptions, 'recordsEvents' | 'claim'> = {}) =>
      openSqliteStore({ path, clock: Date.now, ...options });
    return {
      path,
      module: sqliteModule,
      url: `file:${path}`,
      open,
      openTarget: () => openSqliteTarget(path),
      async waitForSweep(grant_id) {
        const store = await open();
        while ((await store.findCode(grant_id)) !== null) {
          await sweep(store, Date.now());
          await setTimeout(50);
        }
        await store.close();
      },
      async reduceRevoked(revokedGrantDays, now) {
        const store = await openSqliteStore({ path, clock: () => now, revokedGrantDays });
        await sweep(store, now);
        await store.close();
      },
      async sweep(now) {
        const store = await openSqliteStore({ path, clock: () => now });
        await sweep(store, now);
        await store.close();
      },
      async membersOf(kind, id) {
        const database = new DatabaseSync(path, { readOnly: true });
        const row = database.prepare(`SELECT * FROM ${kind} WHERE id = ?`).get(uuidToBytes(id));
        database.close();
        return Object.entries(row ?? {}).flatMap(([name, value]) => (value ? [name] : []));
      },
      remove: () => rm(directory, { recursive: true }),
    };
  },
} satisfies StoreHarness;
