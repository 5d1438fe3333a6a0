import { growingPauses } from './pauses.ts';

// Far longer than an attempt takes, and shorter than a caller waits.
const LONGEST_PAUSE_MS = 1_000;

/**
 * Optimistic locking: a command that arrives late finds another revision, and does nothing: see
 * decision 22.
 *
 * @param find - returns null if there is nothing to write
 * @param write - returns null on a conflict
 */
export async function retryOnConflict<Found, Result>(
  find: () => Promise<Found | null>,
  write: (found: Found) => Promise<Result | null>,
): Promise<Result | null> {
  const start = performance.now();
  let pause: (() => Promise<void>) | undefined;
  for (;;) {
    const found = await find();
    if (found === null) return null;
    const result = await write(found);
    if (result !== null) return result;
    // Without pauses, N calls that change one record need N²/2 writes.
    pause ??= growingPauses({ first: performance.now() - start, most: LONGEST_PAUSE_MS });
    await pause();
  }
}
