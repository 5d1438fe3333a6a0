import { setImmediate } from 'node:timers/promises';
import { openTarget } from '../../../apps/server/src/store/open-store.ts';
import { uuidV7 } from '../credentials.ts';
import { logProgress } from '../progress.ts';
import type { SeedData, Seeder, SeedGrant } from './seed-data.ts';
import { openSqliteSeeder } from './sqlite-seeder.ts';

// Bounded by memory, and by MongoDB's largest message.
const BATCH = 10_000;
const LOG_EVERY = 500_000;

/** Opens a database that has Latchkey's schema. */
async function openSeeder(url: string): Promise<Seeder> {
  if (url.startsWith('file:')) return openSqliteSeeder(url.slice('file:'.length));
  // Imported on demand: only this package installs the driver, and its tests run without it.
  const { openMongodbSeeder } = await import('./mongodb-seeder.ts');
  return openMongodbSeeder(url);
}

function* batches<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const one of all) {
    if (batch.push(one) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Fills an empty database. The schema, the applications and the accounts come as `latchkey copy`
 * brings them. The grants are written directly, since a copy looks for each of them first.
 */
export async function seed(
  url: string,
  { applications, accounts, grants }: SeedData,
): Promise<Seeder> {
  const target = await openTarget(url);
  try {
    await target.importApplications(applications, false);
    for (const batch of batches(accounts, BATCH)) {
      const listed = batch.map((account) => ({ place: uuidV7(Date.now()), account }));
      await target.importAccounts(listed, false);
    }
  } finally {
    await target.close();
  }
  const seeder = await openSeeder(url);
  let inserted = 0;
  for (const batch of batches<SeedGrant>(grants, BATCH)) {
    await seeder.insert(batch);
    inserted += batch.length;
    // SQLite blocks the event loop. Without this pause an interrupt would wait until the end.
    await setImmediate();
    if (inserted % LOG_EVERY === 0) logProgress(`${inserted.toLocaleString('en')} grants …`);
  }
  await seeder.settle();
  return seeder;
}
