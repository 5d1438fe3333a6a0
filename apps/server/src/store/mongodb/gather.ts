import { setTimeout } from 'node:timers/promises';
import type { Milliseconds } from '../../clock.ts';

/** Finds what is stored under several ids, by the id. */
export type FindMany<Found> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>;

// A reply has a document for each, with an application that may have a logo of 8 KB.
const MOST_IDS = 100;

// A read that hangs, as in a failover, does not hold up the next one. Longer than a read takes that
// waits for the disks of a majority.
const LONGEST_WAIT: Milliseconds = 50;

/**
 * Looks up many ids with one command: while one look-up is under way, ids are gathered for the next,
 * like a group commit gathers writes. A lone id is looked up at once.
 *
 * A look-up begins after every id in it was asked for, so nobody gets an older state than alone.
 */
export function gather<Found>(find: FindMany<Found>): (id: string) => Promise<Found | null> {
  let open: { ids: Set<string>; found: Promise<ReadonlyMap<string, Found>> } | undefined;
  let underWay: Promise<unknown> | undefined;

  async function lookUp(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Found>> {
    const before = underWay;
    // Those who ask in one tick of the event loop go together even if nothing is under way.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (before !== undefined) await endOrTimeout(before);
    if (open?.ids === ids) open = undefined;
    const found = find([...ids]);
    underWay = found;
    try {
      return await found;
    } finally {
      if (underWay === found) underWay = undefined;
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

async function endOrTimeout(underWay: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const end = underWay.then(
    () => undefined,
    () => undefined,
  );
  const timeout = setTimeout(LONGEST_WAIT, undefined, { signal: timer.signal }).catch(
    () => undefined,
  );
  await Promise.race([end, timeout]);
  timer.abort();
}
