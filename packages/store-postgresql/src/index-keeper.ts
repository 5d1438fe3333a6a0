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

export interface MissingIndex extends KeptIndex {
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

export interface KeeperOptions {
  indexes: readonly KeptIndex[];
  /** In milliseconds. */
  interval: number;
  onError(error: unknown): void;
}

/** Looks repeatedly, also at the server: a failover may have led to another one. */
export class IndexKeeper {
  readonly #send: Send;
  readonly #options: KeeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #lastProblem: string | undefined;
  #closed = false;

  constructor(send: Send, options: KeeperOptions) {
    this.#send = send;
    this.#options = options;
  }

  /** The first look is in the background, as all are. */
  start(): void {
    this.#looking = this.#look();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    let problem: unknown;
    try {
      await askServer(this.#send);
      for (const missing of await missingIndexes(this.#send, this.#options.indexes)) {
        if (this.#closed) return;
        await this.#build(missing);
      }
    } catch (error) {
      problem = error;
    }
    this.#report(problem);
    if (this.#closed) return;
    // Processes that started together should not all build at once.
    const pause = this.#options.interval * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => this.start(), pause).unref();
  }

  /** The server goes on with a build after its response is late: until its end, the table has the lock. */
  async #build({ name, text, isInvalid }: MissingIndex): Promise<void> {
    try {
      if (isInvalid) await this.#send(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await this.#send(text);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.fate === 'refused')) return;
      throw new Error(
        `The index ${name} is missing, and PostgreSQL says: ${error.message}. As the owner of the table, run in psql: ${text}`,
        { cause: error },
      );
    }
  }

  #report(error: unknown): void {
    const problem = error === undefined ? undefined : String(error);
    if (this.#closed || problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    if (problem !== undefined) this.#options.onError(error);
  }
}
