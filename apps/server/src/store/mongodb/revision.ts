/** A document that is changed more than once, and back. */
export interface Revised {
  /** How often that happened; absent for never. */
  revision?: number;
}

/** The filter for documents of a revision. */
export function ofRevision(revision: number): { revision: number | { $exists: false } } {
  return { revision: revision === 0 ? { $exists: false } : revision };
}

export function revisionOf(document: Revised | null): number {
  return document?.revision ?? 0;
}

/**
 * Makes a write that undoes, or is undone by, others of its kind. It names the revision that it
 * changes: a command that gets there after its caller was answered, because its connection broke or
 * the database stood still, then finds another one and does nothing. Without that it would undo what
 * was acknowledged meanwhile.
 *
 * @param find - the document, if it can be changed at all
 * @param write - makes the change if the document is of that revision; null where it is not
 * @returns what the write returned; null where there is no such document
 */
export async function inTurn<Document extends Revised, Result>(
  find: () => Promise<Document | null>,
  write: (revision: number) => Promise<Result | null>,
): Promise<Result | null> {
  for (;;) {
    const found = await find();
    if (found === null) return null;
    const result = await write(revisionOf(found));
    if (result !== null) return result;
    // Another came in between, so at least that one got on.
  }
}
