import { growingPauses } from './pauses.ts';

// Far more than a turn takes, and less than a caller waits.
const LONGEST_PAUSE_MS = 1_000;

export interface Versioned {
  /** How often the document was changed; absent for never. */
  revision?: number;
}

export function atRevision(revision: number): { revision: number | { $exists: false } } {
  return { revision: revision === 0 ? { $exists: false } : revision };
}

export function revisionOf(document: Versioned | null): number {
  return document?.revision ?? 0;
}

/**
 * Optimistic locking, for a write that a later write of its kind can undo. The write names the
 * revision that it changes. A command that arrives late, after its caller got a response, then finds
 * another revision and does nothing: see decision 22.
 *
 * @param find - returns null if there is nothing to change
 * @param write - returns null if the document no longer has this revision
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
    // Ends, since a conflict means that another write was made. Without pauses, N calls that change
    // one document need N²/2 writes. The first is as long as the turn that was lost.
    pause ??= growingPauses({ first: performance.now() - start, most: LONGEST_PAUSE_MS });
    await pause();
  }
}
