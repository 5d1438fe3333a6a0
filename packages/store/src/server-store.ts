import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Milliseconds } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import type { StoreOptions } from './store.ts';
import { UnusableDatabase } from './unusable-database.ts';
import { CopiedDatabase } from './use-mark.ts';

export interface Timeouts {
  /** For a connection: a new one, or a free one of the pool. */
  connect: Milliseconds;
  /** For a read, and for a write to be where a failover keeps it. */
  operation: Milliseconds;
  /** How long the outcome of a lost write is looked for. */
  outcome: Milliseconds;
  indexCheck: Milliseconds;
}

export const defaultTimeouts: Timeouts = {
  // A request should fail soon while the database is down; a client that can wait retries.
  connect: 3_000,
  operation: 5_000,
  // A failover takes about 10 s: MongoDB elects another primary, or a standby of PostgreSQL is promoted.
  outcome: 10_000,
  indexCheck: 60_000,
};

/**
 * A database that can't be reached yet is prepared by a later call.
 *
 * @throws BadSetting if waiting does not help
 * @throws UnusableDatabase
 */
export async function prepareAtStart(
  database: { prepare(): Promise<unknown>; close(): Promise<void> },
  onError: StoreOptions['onError'],
): Promise<void> {
  try {
    await database.prepare();
  } catch (error) {
    if (error instanceof BadSetting || error instanceof UnusableDatabase) {
      await database.close();
      throw error;
    }
    onError?.(error);
  }
}

const LOOK_EVERY: Milliseconds = 10_000;

/**
 * @param look - throws CopiedDatabase once a last copy has begun
 * @returns what ends it
 */
export function watchForCopy(
  look: () => Promise<void>,
  onCopied: StoreOptions['onCopied'],
): () => void {
  if (!onCopied) return () => undefined;
  const looking = setInterval(() => {
    look().catch((error: unknown) => {
      // It is the cause if the database was copied before it could be reached.
      const why = error instanceof DomainError ? error.cause : error;
      if (why instanceof CopiedDatabase) onCopied(why);
    });
  }, LOOK_EVERY).unref();
  return () => clearInterval(looking);
}
