import { setTimeout } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { Moment } from '@latchkey/domain/request-scope';

export type FindMany<Found> = (
  ids: readonly string[],
  moments: readonly Moment[],
) => Promise<ReadonlyMap<string, Found>>;

// A response has a document for each id, with an application that may have a logo of 8 KB.
const MOST_IDS = 100;

// With one, two callers that ask again after each response would always wait for each other.
const AT_ONCE = 2;

// A look-up that hangs, as in a failover, delays the others by at most this.
const LONGEST_WAIT: Milliseconds = 50;

interface Asked {
  ids: Set<string>;
  moments: Set<Moment>;
}

/**
 * While two look-ups are under way, ids are gathered for the next, which begins after every id in
 * it was asked for: no caller gets an older state than it would alone.
 */
export function gather<Found>(
  find: FindMany<Found>,
): (id: string, moment: Moment) => Promise<Found | null> {
  let open: (Asked & { found: Promise<ReadonlyMap<string, Found>> }) | undefined;
  const underWay = new Set<Promise<unknown>>();

  async function lookUp({ ids, moments }: Asked): Promise<ReadonlyMap<string, Found>> {
    const before = underWay.size < AT_ONCE ? [] : [...underWay];
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (before.length > 0) await firstEndOrTimeout(before);
    if (open?.ids === ids) open = undefined;
    const found = find([...ids], [...moments]);
    underWay.add(found);
    try {
      return await found;
    } finally {
      underWay.delete(found);
    }
  }

  return async (id, moment) => {
    if (open === undefined || open.ids.size === MOST_IDS) {
      const asked: Asked = { ids: new Set(), moments: new Set() };
      open = { ...asked, found: lookUp(asked) };
    }
    open.ids.add(id);
    open.moments.add(moment);
    return (await open.found).get(id) ?? null;
  };
}

async function firstEndOrTimeout(underWay: readonly Promise<unknown>[]): Promise<void> {
  const timer = new AbortController();
  const timeout = setTimeout(LONGEST_WAIT, undefined, { signal: timer.signal });
  await Promise.race([...underWay, timeout]).catch(() => undefined);
  timer.abort();
  await timeout.catch(() => undefined);
}
