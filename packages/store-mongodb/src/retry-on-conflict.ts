import { growingPauses } from './pauses.ts';

// Far longer than an attempt takes, and shorter than a caller waits.
const LONGEST_PAUSE_MS = 1_000;

export interface Versioned {
  revision?: number;
}

export function atRevision(revision: number): { revision: number | { $exists: false } } {
  return { revision: revision === 0 ? { $exists: false } : revision };
}

export function revisionOf(document: Versioned | null): number {
  return document?.revision ?? 0;
}

/**
 * Optimistic locking: a command that arrives late finds another revision, and does nothing: see
 * decision 22.
 *
 * @param write - returns null on a conflict
 */
export async function retryOnConflict<Document extends Versioned, Result>(
  find: () => Promise<Document | null>,
  write: (revision: number, document: Document) => Promise<Result | null>,
): Promise<Result | null> {
  const start = performance.now();
  let pause: (() => Promise<void>) | undefined;
  for (;;) {
    const found = await find();
    if (found === null) return null;
    const result = await write(revisionOf(found), found);
    if (result !== null) return result;
    // Without pauses, N calls that change one document need N²/2 writes.
    pause ??= growingPauses({ first: performance.now() - start, most: LONGEST_PAUSE_MS });
    await pause();
  }
}
