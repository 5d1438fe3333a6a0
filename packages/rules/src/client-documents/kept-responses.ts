import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { FetchFailure } from './faults.ts';
import type { Fetched } from './fetch-json.ts';
import { NoPlace, type Places } from './places.ts';

const FETCHED_AGAIN_AFTER: Milliseconds = 5_000;
const FAILURES_A_MINUTE = 10;
const MINUTE: Milliseconds = 60_000;
const REFRESHED_AGAIN_AFTER = MINUTE;
/** The good one, after its time, while the address can't be reached. */
const SERVED_LATE: Milliseconds = 86_400_000;

interface Kept<Value> {
  good: { value: Value; until: Milliseconds } | null;
  /** Of the latest fetch. */
  failure: Error | null;
  failures: Milliseconds[];
  fetched_at: Milliseconds | null;
  refreshed_at: Milliseconds | null;
  running: Promise<void> | null;
}

/**
 * What was read at addresses, with at most one fetch at a time for each.
 *
 * @param read - throws a FetchFailure, or another error for what cannot be used
 */
export function createKeptResponses<Value>({
  clock,
  places,
  fetch,
  read,
  // Of 10 KiB each at most. Strangers can make the addresses, so there is a bound.
  most = 1_000,
}: {
  clock: Clock;
  places: Places;
  fetch(address: URL): Promise<Fetched>;
  read(address: string, body: Buffer): Value;
  /** How many addresses are kept. */
  most?: number;
}) {
  const kept = new Map<string, Kept<Value>>();

  function entryOf(key: string): Kept<Value> {
    const known = kept.get(key);
    const entry = known ?? {
      good: null,
      failure: null,
      failures: [],
      fetched_at: null,
      refreshed_at: null,
      running: null,
    };
    // The map is in the order of the last use.
    kept.delete(key);
    kept.set(key, entry);
    for (const [oldest, { running }] of kept) {
      if (kept.size <= most) break;
      if (running === null) kept.delete(oldest);
    }
    return entry;
  }

  function mayFetch({ fetched_at, failures }: Kept<Value>): boolean {
    const now = clock();
    if (fetched_at !== null && now < fetched_at + FETCHED_AGAIN_AFTER) return false;
    return failures.filter((time) => now < time + MINUTE).length < FAILURES_A_MINUTE;
  }

  async function load(entry: Kept<Value>, address: string): Promise<void> {
    const url = new URL(address);
    await places.within(url.hostname, async () => {
      entry.fetched_at = clock();
      try {
        const { body, keep } = await fetch(url);
        entry.good = { value: read(address, body), until: clock() + keep };
        entry.failure = null;
        entry.failures = [];
      } catch (error) {
        entry.failure = error as Error;
        entry.failures = [...entry.failures, clock()].slice(-FAILURES_A_MINUTE);
        if (!(error instanceof FetchFailure) || !error.unreachable) entry.good = null;
      }
    });
  }

  function fetchOnce(entry: Kept<Value>, address: string): Promise<void> {
    entry.running ??= load(entry, address).finally(() => {
      entry.running = null;
    });
    return entry.running;
  }

  return {
    /** The last good one in its time, or, if it may be late, until a day after it. Nothing is fetched. */
    peek(address: string, { mayBeLate = false } = {}): Value | null {
      const good = kept.get(address)?.good ?? null;
      return good !== null && clock() < good.until + (mayBeLate ? SERVED_LATE : 0)
        ? good.value
        : null;
    },

    /** What is there now; null if it was fetched for this less than a minute ago, or can't be. */
    async refresh(address: string): Promise<Value | null> {
      const entry = entryOf(address);
      const now = clock();
      if (entry.refreshed_at !== null && now < entry.refreshed_at + REFRESHED_AGAIN_AFTER) {
        return null;
      }
      entry.refreshed_at = now;
      await fetchOnce(entry, address).catch((error: unknown) => {
        if (!(error instanceof NoPlace)) throw error;
      });
      return entry.failure === null ? (entry.good?.value ?? null) : null;
    },

    /** @throws NoPlace, or why there is nothing */
    async find(address: string): Promise<Value> {
      const entry = entryOf(address);
      if (entry.good !== null && clock() < entry.good.until) return entry.good.value;
      if (entry.running !== null || mayFetch(entry)) {
        await fetchOnce(entry, address);
      }
      if (entry.good !== null && clock() < entry.good.until + SERVED_LATE) return entry.good.value;
      throw entry.failure;
    },
  };
}
