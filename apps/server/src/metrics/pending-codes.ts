import { setTimeout } from 'node:timers/promises';
import type { Clock, Milliseconds } from '../clock.ts';
import type { Store } from '../store/store.ts';

// SQLite counts 100,000 in 4 ms on the main thread. That is 333 new codes a second for 300 s.
const COUNTED_AT_MOST = 100_000;

// Prometheus gives up after 10 s by default. During an outage, the other metrics matter most.
const WITHIN: Milliseconds = 1_000;

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
