import { type Finding, problem } from './finding.ts';

/** What a database is used for, as it says itself. A new one has no mark. */
export type UseMark =
  /** A service or a command may have changed it. */
  | { is: 'used' }
  /** Copies of the database `from` made its records. `last`: the last one is complete. */
  | { is: 'copy'; from: string; run: string; last: boolean }
  /** The last copy to `to` has begun: what is changed here from then on would be lost. */
  | { is: 'copied'; to: string; run: string };

/** Where a database keeps its mark. */
export interface UseMarks {
  find(): Promise<UseMark | null>;
  /** @returns whether the mark was `before`, and is `after` now */
  replace(before: UseMark | null, after: UseMark): Promise<boolean>;
}

/** A database must not be changed where it is, because of a copy. Only an operator can decide that. */
export class CopiedDatabase extends Error {
  override readonly name = 'CopiedDatabase';
}

/** Who is about to change the records of a database. */
export interface Claim {
  /** Whether to take it back into use if it was copied, or is a copy that is not complete. */
  evenIfCopied: boolean;
}

/**
 * Marks a database as used, before anything is changed in it.
 *
 * @param database - how messages call it
 * @throws CopiedDatabase
 */
export async function claimDatabase(
  marks: UseMarks,
  database: string,
  { evenIfCopied }: Claim,
): Promise<void> {
  for (;;) {
    const mark = await marks.find();
    if (mark?.is === 'used') return;
    const why = whyNotToUse(mark, database);
    if (why !== null && !evenIfCopied) throw new CopiedDatabase(why);
    if (await marks.replace(mark, { is: 'used' })) return;
  }
}

/** @returns null if it may be used */
export function whyNotToUse(mark: UseMark | null, database: string): string | null {
  if (mark?.is === 'copied') {
    return `${database} was copied to ${mark.to}: set DATABASE_URL to that. If the copy failed, repeat it with --last. To give the copy up and go on here, run \`latchkey serve --copied\` once.`;
  }
  if (mark?.is === 'copy' && !mark.last) {
    return `${database} is a copy of ${mark.from}, and not the last one: stop what uses ${mark.from}, then repeat \`latchkey copy\` with --last. To use this copy as it is, run \`latchkey serve --copied\` once.`;
  }
  return null;
}

export function* checkUse(mark: UseMark | null): Generator<Finding> {
  const why = whyNotToUse(mark, 'The database');
  if (why !== null) yield problem('store', why, 'The service does not start until then.');
}
