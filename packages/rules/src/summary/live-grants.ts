import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { beforeDeadline, outsideRequests } from '@latchkey/domain/request-scope';
import type { LiveCount } from '@latchkey/store/records';
import type { CountedPlace, Store } from '@latchkey/store/store';
import type { Counts } from './counts.ts';

/** Counts the active grants, which takes some seconds for ten million. */
export interface LiveGrants {
  /** Counts now if the last count is a day old, such as before the first one. */
  keepFresh(): Promise<void>;
  watch(): void;
  close(): Promise<void>;
}

const DAY: Milliseconds = 86_400_000;
// An hour less than a day, so that a count is never older than a day.
const COUNT_EVERY: Milliseconds = DAY - 3_600_000;
const WATCH_EVERY: Milliseconds = 600_000;
// SQLite needs a few milliseconds of the main thread for a part.
const PART = 1_000;
// A process may be killed while it counts.
const CLAIM_LASTS: Milliseconds = 1_200_000;

type Counting = Pick<
  Store,
  'findLiveCount' | 'claimLiveCount' | 'countActiveGrants' | 'keepLiveCount'
>;

export function createLiveGrants(
  store: Counting,
  {
    clock,
    counts,
    onError,
  }: { clock: Clock; counts: Pick<Counts, 'flush'>; onError(error: unknown): void },
): LiveGrants {
  let closed = false;
  let running: Promise<void> | null = null;
  let watching: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function countAll(): Promise<void> {
    // Changes that are counted only in memory so far would be added to the new count again.
    await counts.flush();
    const counted_at = clock();
    let count = 0;
    let place: CountedPlace | null = null;
    do {
      const part = await store.countActiveGrants({ after: place, limit: PART });
      count += part.count;
      place = part.after;
      await endOfTurn();
      if (closed) return;
    } while (place !== null);
    await store.keepLiveCount({ count, counted_at });
  }

  function countOnce(): Promise<void> {
    running ??= outsideRequests(countAll).finally(() => {
      running = null;
    });
    return running;
  }

  // A clock may have been set back since.
  const isOlder = (live: LiveCount | null, age: Milliseconds) =>
    live === null || Math.abs(clock() - live.counted_at) >= age;

  async function countIfDue(): Promise<void> {
    if (!isOlder(await store.findLiveCount(), COUNT_EVERY)) return;
    const claim = { now: clock(), every: COUNT_EVERY, claim_lasts: CLAIM_LASTS };
    if (await store.claimLiveCount(claim)) await countOnce();
  }

  function countInBackground(): void {
    watching ??= countIfDue()
      .catch((error) => {
        if (!closed) onError(error);
      })
      .finally(() => {
        watching = null;
      });
  }

  return {
    async keepFresh() {
      if (isOlder(await store.findLiveCount(), DAY)) await beforeDeadline(countOnce());
    },

    watch() {
      countInBackground();
      timer = setInterval(countInBackground, WATCH_EVERY).unref();
    },

    async close() {
      closed = true;
      clearInterval(timer);
      await Promise.all([watching, running?.catch(() => {})]);
    },
  };
}
