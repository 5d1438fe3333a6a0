import { setImmediate } from 'node:timers/promises';
import { openStore } from '../../../apps/server/src/store/open-store.ts';
import { note } from '../workbench.ts';
import { mongodbShelf } from './mongodb-shelf.ts';
import type { Shelf } from './shelf.ts';
import { sqliteShelf } from './sqlite-shelf.ts';
import type { Stock, StoredGrant } from './stored-grants.ts';

// Few enough for the memory, and for the largest message that MongoDB takes.
const AT_ONCE = 10_000;
const NOTE_EVERY = 500_000;

/** The grants of a database that has its schema. */
const openShelf = (url: string): Promise<Shelf> =>
  url.startsWith('file:') ? sqliteShelf(url.slice('file:'.length)) : mongodbShelf(url);

function* partsOf<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let part: T[] = [];
  for (const one of all) {
    if (part.push(one) < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/**
 * Puts a stock into an empty database: applications and accounts, and with them the schema, by the
 * service's own store, and the grants by the shelf, which is what a store has no method for.
 */
export async function fill(url: string, { applications, accounts, grants }: Stock): Promise<Shelf> {
  const store = await openStore(url, { clock: Date.now });
  try {
    for (const application of applications) await store.createApplication(application);
    for (const part of partsOf(accounts, 200)) {
      await Promise.all(part.map((account) => store.putAccount(account)));
    }
  } finally {
    await store.close();
  }
  const shelf = await openShelf(url);
  let added = 0;
  for (const part of partsOf<StoredGrant>(grants, AT_ONCE)) {
    await shelf.add(part);
    added += part.length;
    // SQLite gives the event loop no turn: without one, an interrupt would wait for the end.
    await setImmediate();
    if (added % NOTE_EVERY === 0) note(`${added.toLocaleString('en')} grants …`);
  }
  return shelf;
}
