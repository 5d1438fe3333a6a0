import { setTimeout } from 'node:timers/promises';
import type { Milliseconds } from '../../clock.ts';

/** Finds what is stored under several ids, by the id. */
export type FindMany<Found> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>;

// A reply has a document for each, with an application that may have a logo of 8 KB.
const MOST_IDS = 100;

// With one at a time, two callers that ask again as soon as they are answered would wait for each
// other's look-up every time.
const AT_ONCE = 2;

// A look-up that hangs, as in a failover, does not hold up the others for longer.
const LONGEST_WAIT: Milliseconds = 50;

/**
 * Looks up many ids with one command: while two look-ups are under way, ids are gathered for the next,
 * like a group commit gathers writes.
 *
 * A look-up begins after every id in it was asked for, so nobody gets an older state than alone.
 */
export function gather<Found>(find: FindMany<Found>): (id: string) => Promise<Found | null> {
  let open: { ids: Set<string>; found: Promise<ReadonlyMap<string, Found>> } | undefined;
  const underWay = new Set<Promise<unknown>>();

  async function lookUp(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Found>> {
    const before = underWay.size < AT_ONCE ? [] : [...underWay];
    // Those who ask in one tick of the event loop go together even if nothing is under way.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (before.length > 0) await firstEndOrTimeout(before);
    if (open?.ids === ids) open = undefined;
    const found = find([...ids]);
    underWay.add(found);
    try {
      return await found;
    } finally {
      underWay.delete(found);
    }
  }

  return async (id) => {
    if (open === undefined || open.ids.size === MOST_IDS) {
      const ids = new Set<string>();
      open = { ids, found: lookUp(ids) };
    }
    open.ids.add(id);
    return (await open.found).get(id) ?? null;
  };
}

async function firstEndOrTimeout(underWay: readonly Promise<unknown>[]): Promise<void> {
  const timer = new AbortController();
  const timeout = setTimeout(LONGEST_WAIT, undefined, { signal: timer.signal });
  // However it ends: a failure is for those who asked.
  await Promise.race([...underWay, timeout]).catch(() => undefined);
  timer.abort();
  await timeout.catch(() => undefined);
}
