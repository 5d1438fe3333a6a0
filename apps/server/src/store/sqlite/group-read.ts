import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isPastDeadline, pastDeadline } from '../../request-scope.ts';
import type { DatabaseFile } from './database-file.ts';
import { isLocked, retryWhileLocked, rollBack } from './errors.ts';

interface Read {
  statement: () => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads of one event-loop tick share a transaction. Alone, each would lock the write-ahead log: a third of the
 * CPU of the statement that authenticates a grant. It is one synchronous call, so no write is in between.
 * Nothing is received within a tick, so no caller gets an older state than it would alone.
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
  run<T>(statement: () => T): Promise<T> {
    if (isPastDeadline()) return Promise.reject(pastDeadline());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#waiting.length === 0) process.nextTick(() => this.#readBatch());
    this.#waiting.push({ statement, resolve: resolve as Read['resolve'], reject });
    return promise;
  }

  async #readBatch(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const settlements = await retryWhileLocked(() => this.#readAll(batch));
      for (const settle of settlements) settle();
    } catch (error) {
      for (const { reject } of batch) reject(this.#file.toStoreError(error));
    }
  }

  /** @throws if the database is locked, another file is at the path, or the store is closed */
  #readAll(batch: readonly Read[]): (() => void)[] {
    this.#refuseIfEnded();
    const settlements = batch.length > 1 ? this.#inTransaction(batch) : batch.map(this.#readOne);
    this.#file.verify();
    return settlements;
  }

  #inTransaction(batch: readonly Read[]): (() => void)[] {
    this.#begin.run();
    try {
      return batch.map(this.#readOne);
    } finally {
      // There is nothing to commit, and an error of the disk has ended the transaction already.
      rollBack(this.#database);
    }
  }

  readonly #readOne = ({ statement, resolve, reject }: Read): (() => void) => {
    try {
      const result = statement();
      return () => resolve(result);
    } catch (error) {
      if (isLocked(error)) throw error;
      const told = this.#file.toStoreError(error);
      return () => reject(told);
    }
  };
}
