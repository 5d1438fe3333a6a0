import { setTimeout } from 'node:timers/promises';
import type { Clock, Milliseconds } from '../clock.ts';
import type { Store } from '../store/store.ts';

// SQLite counts 100,000 in 4 ms, on the main thread: at 300 s for each, 333 new codes a second.
const COUNTED_AT_MOST = 100_000;

// Prometheus gives up a scrape after 10 s by default. While the database is away, the other metrics
// are needed most.
const WITHIN: Milliseconds = 1_000;

/** Counts the pending codes; null if the database fails or does not respond within a second. */
export function createPendingCodes(
  store: Pick<Store, 'countPendingCodes'>,
  clock: Clock,
  within = WITHIN,
): () => Promise<number | null> {
  let running: Promise<number | null> | null = null;
  return async () => {
    // Scrapes during an outage share one count.
    running ??= store
      .countPendingCodes({ now: clock(), limit: COUNTED_AT_MOST })
      .catch(() => null)
      .finally(() => {
        running = null;
      });
    const timeout = new AbortController();
    try {
      return await Promise.race([
        running,
        setTimeout(within, null, { signal: timeout.signal, ref: false }),
      ]);
    } finally {
      timeout.abort();
    }
  };
}
