import { keepLooking, type LookOptions } from '@latchkey/store/keep-looking';
import { indexesOf } from '@latchkey/store/kind';
import { indexText } from '@latchkey/store/sql/schema';
import type { Send } from './database.ts';
import { DatabaseError } from './errors.ts';
import { KINDS } from './schema.ts';
import { askServer } from './server.ts';

export interface KeptIndex {
  name: string;
  table: string;
  /** Creates it while the table is in use. */
  text: string;
}

/** @param reducesRevoked - whether REVOKED_GRANT_DAYS is set */
export const keptIndexes = (reducesRevoked: boolean): KeptIndex[] =>
  KINDS.flatMap((kind) =>
    indexesOf(kind, { withOptional: reducesRevoked }).map((index) => ({
      name: index.name,
      table: kind.name,
      text: indexText(kind, index).replace('CREATE INDEX', 'CREATE INDEX CONCURRENTLY'),
    })),
  );

interface MissingIndex extends KeptIndex {
  /** Whether a build of it was interrupted: such an index costs writes, and helps no read. */
  isInvalid: boolean;
}

/**
 * None of a table whose index is being built: a build locks its table so, from its begin to its end. So does
 * VACUUM, for a while.
 */
export async function missingIndexes(
  send: Send,
  indexes: readonly KeptIndex[],
): Promise<MissingIndex[]> {
  const found = await send(
    `SELECT name, present.indexrelid IS NOT NULL AS "isInvalid"
    FROM unnest($1::text[], $2::text[]) AS wanted (name, "table")
    LEFT JOIN pg_index present ON present.indexrelid = to_regclass(name) AND present.indrelid = to_regclass("table")
    WHERE present.indisvalid IS NOT TRUE AND to_regclass("table") IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_locks
      WHERE relation = to_regclass("table") AND mode = 'ShareUpdateExclusiveLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )`,
    [indexes.map(({ name }) => name), indexes.map(({ table }) => table)],
  );
  const missing = new Map(found.map(({ name, isInvalid }) => [name, isInvalid as boolean]));
  return indexes.flatMap((index) => {
    const isInvalid = missing.get(index.name);
    return isInvalid === undefined ? [] : [{ ...index, isInvalid }];
  });
}

/**
 * Builds what is missing. Looks also at the server: a failover may have led to another one.
 *
 * @returns what ends it
 */
export const keepIndexes = (
  send: Send,
  indexes: readonly KeptIndex[],
  options: LookOptions,
): (() => Promise<void>) =>
  keepLooking(async (closing) => {
    await askServer(send);
    for (const missing of await missingIndexes(send, indexes)) {
      if (!closing.aborted) await build(send, missing);
    }
    return [];
  }, options);

/** The server goes on with a build after its response is late: until its end, the table has the lock. */
async function build(send: Send, { name, text, isInvalid }: MissingIndex): Promise<void> {
  try {
    if (isInvalid) await send(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await send(text);
  } catch (error) {
    if (!(error instanceof DatabaseError && error.fate === 'refused')) return;
    throw new Error(
      `The index ${name} is missing, and PostgreSQL says: ${error.message}. As the owner of the table, run in psql: ${text}`,
      { cause: error },
    );
  }
}
