import { setTimeout } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';

// Prometheus gives up after 10 s by default. During an outage, the other metrics matter most.
const WITHIN: Milliseconds = 1_000;

/** What the store says; null if it fails, or does not say in time. */
export function withinASecond<T>(ask: () => Promise<T>, within = WITHIN): () => Promise<T | null> {
  let running: Promise<T | null> | null = null;
  return async () => {
    // Scrapes during an outage share one question.
    running ??= ask()
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
