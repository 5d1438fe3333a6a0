import type { Milliseconds } from '@latchkey/domain/clock';

// With one, two callers that ask again after each response would always wait for each other.
const AT_ONCE = 2;

// A command that hangs, as in a failover, delays the others by at most this.
const LONGEST_WAIT: Milliseconds = 50;

export interface GatherOptions<Asked> {
  /** How many calls share a command at most. */
  most: number;
  /** Calls with the same one never share a command. Default: any may. */
  apart?: (asked: Asked) => unknown;
}

/**
 * While two commands are under way, calls are gathered for the next, which begins after all of them were made: no
 * caller gets an older state than it would alone.
 *
 * @param send - returns the results in the order of the calls; one may be a promise that rejects
 */
export function gather<Asked, Result>(
  send: (all: readonly Asked[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { most, apart }: GatherOptions<Asked>,
): (asked: Asked) => Promise<Result> {
  interface Open {
    all: Asked[];
    taken: Set<unknown>;
    results: ReturnType<typeof send>;
  }
  let open: Open | undefined;
  const underWay = new Set<Promise<unknown>>();

  async function sendSoon(all: readonly Asked[]) {
    const before = underWay.size < AT_ONCE ? [] : [...underWay];
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (before.length > 0) await firstEndOrTimeout(before);
    if (open?.all === all) open = undefined;
    const results = send(all);
    underWay.add(results);
    try {
      return await results;
    } finally {
      underWay.delete(results);
    }
  }

  return async (asked) => {
    const own = apart?.(asked);
    if (open === undefined || open.all.length === most || (apart && open.taken.has(own))) {
      const all: Asked[] = [];
      open = { all, taken: new Set(), results: sendSoon(all) };
    }
    if (apart) open.taken.add(own);
    const place = open.all.push(asked) - 1;
    return (await open.results)[place] as Result;
  };
}

async function firstEndOrTimeout(underWay: readonly Promise<unknown>[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LONGEST_WAIT);
  await Promise.race([...underWay, promise]).catch(() => undefined);
  clearTimeout(timer);
}
