import { isDeepStrictEqual } from 'node:util';
import type { Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import { formatTimestamp, uuidV7Time } from '@latchkey/schema';
import { type KeyFingerprints, knownKeysAfter } from './events-keys.ts';
import { type Finding, problem } from './finding.ts';
import { UnusableDatabase } from './unusable-database.ts';

/** What a database is used for, as it says itself. A new one has no mark. */
export type UseMark = {
  /** Of the database. It stays, wherever the database is moved to, and however an URL spells its host. */
  id: string;
  /** When the last `latchkey backup` was made of it. */
  backed_up_at?: Milliseconds;
  /** Where the last one that was begun is, or was being made. */
  backup_file?: string;
  /** The keys that its endpoints were told secrets of: see {@link KeyFingerprints}. */
  events_keys?: readonly string[];
} & (
  | {
      /** A service or a command may have changed it. */
      is: 'used';
    }
  | {
      /**
       * - `copy`: copies of the other database made its records.
       * - `complete`: the last one of them is complete.
       * - `copied`: the last copy to the other database has begun. What is changed here from then on would
       *   be lost.
       */
      is: 'copy' | 'complete' | 'copied';
      other: { id: string; name: string };
      /** A UUIDv7: when the copy began. */
      run: string;
    }
);

/** Where a database keeps its mark. */
export interface UseMarks {
  find(): Promise<UseMark | null>;
  /** @returns whether the mark was `before`, and is `after` now */
  replace(before: UseMark | null, after: UseMark): Promise<boolean>;
}

/** A database must not be changed where it is, because of a copy. Only an operator can decide that. */
export class CopiedDatabase extends UnusableDatabase {
  override readonly name = 'CopiedDatabase';
}

/** Who is about to change the records of a database. */
export interface Claim {
  /** Whether to take it back into use if it was copied, or is a copy that is not complete. */
  evenIfCopied: boolean;
  /** What signs for its endpoints, null if nothing does. Default: nobody is to hear of what changes. */
  eventsKeys?: KeyFingerprints | null;
  /**
   * What to do with a SQLite database that may lack its last changes: take it as it is, revoke again what ended since a
   * time while nothing else may use it, or take it once that is done. Default: refuse it.
   */
  incomplete?: 'accept' | 'revoked' | { since: Milliseconds };
}

export interface ClaimedDatabase extends UseMarks {
  /** In messages. */
  name: string;
  /** Whether there is any endpoint, also one of a deleted application, but that of the demo. */
  hasEndpoints(): Promise<boolean>;
}

/**
 * Marks a database as used, and with which keys, before anything is changed in it.
 *
 * @param onWarning - gets what the operator has to do if it was taken back into use
 * @throws CopiedDatabase
 * @throws BadSetting for the keys
 */
export async function claimDatabase(
  database: ClaimedDatabase,
  { evenIfCopied, eventsKeys }: Claim,
  onWarning: (message: string) => void = () => {},
): Promise<void> {
  for (;;) {
    const mark = await database.find();
    const known = mark?.events_keys;
    const events_keys =
      eventsKeys === undefined ? known : await knownKeysAfter(database, known, eventsKeys);
    if (!evenIfCopied) refuseCopied(mark, database.name);
    const before = mark?.is === 'used' ? mark : { id: mark?.id ?? newId(Date.now()) };
    const after = { ...before, is: 'used', ...(events_keys && { events_keys }) } as const;
    if (isDeepStrictEqual(mark, after)) return;
    if (!(await database.replace(mark, after))) continue;
    if (mark !== null && mark.is !== 'used' && mark.is !== 'complete') {
      const since = formatTimestamp(uuidV7Time(mark.run) as Milliseconds);
      onWarning(
        `${database.name} was taken back into use. What was revoked in ${mark.other.name} since ${since} is not revoked here: run \`latchkey revoke-again --since ${since}\` with the logs of the services there.`,
      );
    }
    return;
  }
}

/** @throws CopiedDatabase */
export function refuseCopied(mark: UseMark | null, database: string): void {
  const why = whyNotToUse(mark, database);
  if (why !== null) throw new CopiedDatabase(why);
}

/** @returns null if it may be used */
function whyNotToUse(mark: UseMark | null, database: string): string | null {
  if (mark?.is === 'copied') {
    return `${database} was copied to ${mark.other.name}: set DATABASE_URL to that. If the copy failed, repeat it with --last. To give the copy up and go on here, run \`latchkey serve --copied\` once.`;
  }
  if (mark?.is === 'copy') {
    return `${database} is a copy of ${mark.other.name}, and not the last one: stop what uses ${mark.other.name}, then repeat \`latchkey copy\` with --last. To use this copy as it is, run \`latchkey serve --copied\` once.`;
  }
  return null;
}

export function* checkUse(mark: UseMark | null): Generator<Finding> {
  const why = whyNotToUse(mark, 'The database');
  if (why !== null) yield problem('store', why, 'The service does not start until then.');
}
