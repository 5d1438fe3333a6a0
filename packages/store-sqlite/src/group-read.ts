import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { isPastDeadline, pastDeadline } from '@latchkey/domain/request-scope';
import type { DatabaseFile } from './database-file.ts';
import { isLocked, retryWhileLocked, rollBack } from './errors.ts';

const AT_ONCE: Milliseconds = 5;

interface Read {
  statement(...input: unknown[]): unknown;
  input: unknown[];
  result?: unknown;
  failure?: { error: unknown } | undefined;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads of one event-loop tick share a transaction. Alone, each would lock the write-ahead log: a third of the
 * CPU of the statement that authenticates a grant. It is one synchronous call, so no write is in between.
 * Nothing is received within a tick, so no caller gets an older state than it would alone.
 *
 * What is left after {@link AT_ONCE} is read once others were handled, before what they read, so that nothing waits for
 * ever: a stranger can have hundreds of requests that read much arrive together.
 */
export class GroupRead {
  readonly #file: DatabaseFile;
  readonly #refuseIfEnded: () => void;
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  #waiting: Read[] = [];

  constructor(database: DatabaseSync, file: DatabaseFile, refuseIfEnded: () => void) {
    this.#database = database;
    this.#file = file;
    this.#refuseIfEnded = refuseIfEnded;
    this.#begin = database.prepare('BEGIN');
  }

  /** @param statement - synchronous; may run again, if the database was locked */
  run<T, Input extends unknown[] = []>(
    statement: (...input: Input) => T,
    ...input: Input
  ): Promise<T> {
    if (isPastDeadline()) return Promise.reject(pastDeadline());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#waiting.length === 0) process.nextTick(this.#readBatch);
    this.#waiting.push({ statement, input, resolve: resolve as Read['resolve'], reject });
    return promise;
  }

  readonly #readBatch = async (): Promise<void> => {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const left = batch.splice(await retryWhileLocked(() => this.#readSome(batch)));
      if (left.length > 0) {
        if (this.#waiting.length === 0) setImmediate(this.#readBatch);
        this.#waiting = [...left, ...this.#waiting];
      }
      // None is told before the file is known to be ours.
      for (const { result, failure, resolve, reject } of batch) {
        if (failure === undefined) resolve(result);
        else reject(failure.error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(this.#file.toStoreError(error));
    }
  };

  /**
   * @returns how many it has read
   * @throws if the database is locked, another file is at the path, or the store is closed
   */
  #readSome(batch: readonly Read[]): number {
    const startedAt = performance.now();
    let done = 0;
    this.#refuseIfEnded();
    const isShared = batch.length > 1;
    if (isShared) this.#begin.run();
    try {
      for (const read of batch) {
        read.failure = undefined;
        try {
          read.result = read.statement(...read.input);
        } catch (error) {
          if (isLocked(error)) throw error;
          read.failure = { error: this.#file.toStoreError(error) };
        }
        done += 1;
        if (performance.now() - startedAt >= AT_ONCE) break;
      }
    } finally {
      // There is nothing to commit, and an error of the disk has ended the transaction already.
      if (isShared) rollBack(this.#database);
    }
    this.#file.verify();
    return done;
  }
}
