// Makes a SQLite database with many grants:
//
//   node benchmarks/performance/growth/make-database.ts file:PATH GRANTS
import { setImmediate } from 'node:timers/promises';
import type { AnyKind } from '../../../packages/store/src/kind.ts';
import { accounts, applications, grants } from '../../../packages/store/src/kinds.ts';
import { driver as mongodb } from '../../../packages/store-mongodb/src/driver.ts';
import { driver as sqlite } from '../../../packages/store-sqlite/src/driver.ts';
import { uuidV7 } from '../credentials.ts';
import { logProgress } from '../progress.ts';
import { type Records, recordsOf } from './records.ts';

/** How many records a transaction writes. */
const BATCH = { sqlite: 50_000, mongodb: 5_000 };
const LOG_EVERY = 250_000;

function* batches<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const one of all) {
    if (batch.push(one) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Fills a new database, in the way in which `latchkey copy` does. */
export async function makeDatabase(url: string, records: Records): Promise<void> {
  const isSqlite = sqlite.schemes.some((scheme) => url.startsWith(scheme));
  const target = await (isSqlite ? sqlite : mongodb).openTarget(url);
  const size = isSqlite ? BATCH.sqlite : BATCH.mongodb;
  const mark = { id: uuidV7(Date.now()), is: 'used' } as const;
  try {
    if (!(await target.replace(null, mark))) {
      throw new Error('The database is not a new one: name another one, or delete it.');
    }
    const parts: [AnyKind, Iterable<object>][] = [
      [applications, records.applications],
      [accounts, records.accounts],
      [grants, records.grants],
    ];
    for (const [kind, all] of parts) {
      let written = 0;
      for (const batch of batches(all, size)) {
        await target.write(kind, { records: batch as never }, mark);
        written += batch.length;
        // SQLite blocks the event loop. Without a pause, an interrupt would wait until the end.
        await setImmediate();
        if (written % LOG_EVERY === 0) {
          logProgress(`${written.toLocaleString('en')} ${kind.name} …`);
        }
      }
    }
  } finally {
    await target.close();
  }
}

/** The size of what is set apart, for a database of so many grants or more. */
export const partsFor = (few: number) => ({
  known: few / 5,
  ofLargeAccount: few / 4,
  perAccount: few / 400,
  perSmallApplication: few / 200,
});

if (import.meta.main) {
  const [url, count] = process.argv.slice(2);
  if (!url?.startsWith('file:') || !(Number(count) >= 20_000)) {
    logProgress('Usage: node make-database.ts file:PATH GRANTS, with at least 20,000 grants.');
    process.exit(2);
  }
  const parts = { ...partsFor(20_000), erasures: 30, deletions: 30 };
  await makeDatabase(url, recordsOf(Number(count), parts));
}
