import { setTimeout } from 'node:timers/promises';
import { isBusy } from './sqlite-error.ts';

/**
 * How long SQLite itself waits for a lock. It sleeps on the thread, and nothing else runs
 * meanwhile; a commit of another process takes a few milliseconds, so this is enough for those.
 */
export const BLOCKING_MS = 20;

// For a lock that is held longer (a backup, a person in a shell) we wait without blocking, so that
// reads and health checks are answered. 5 s is less than what callers wait for an answer.
const PATIENCE_MS = 5_000;
const PAUSE_MS = 10;

/** Attempts something until no other process holds the lock, or patience ends. */
export async function untilUnlocked<T>(attempt: () => T): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}
