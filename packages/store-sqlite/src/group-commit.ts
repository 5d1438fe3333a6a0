import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { DomainError, type ErrorMembers } from '@latchkey/domain/domain-error';
import { isPastDeadline, pastDeadline } from '@latchkey/domain/request-scope';
import type { DatabaseFile } from './database-file.ts';
import { isFull, isUnavailable, mayBeWritten, retryWhileLocked, rollBack } from './errors.ts';
import type { Reserve } from './reserve.ts';

interface Write {
  attempt(...input: unknown[]): unknown;
  input: unknown[];
  result?: unknown;
  failure?: { error: unknown } | undefined;
  ends: boolean;
  members: ErrorMembers;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

// A write takes about 20 µs, so a full batch blocks the thread for about 5 ms, plus its commit.
const BATCH_SIZE = 256;

/**
 * Writes of one event-loop turn share a transaction: see decision 5. From BEGIN to COMMIT, only microtasks
 * run, and reads wait for the end of a tick: so none sees a write before its commit.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #file: DatabaseFile;
  readonly #reserve: Reserve;
  readonly #refuseIfEnded: () => void;
  readonly #startLogAgain: StatementSync;
  #waiting: Write[] = [];
  #draining: Promise<void> | null = null;

  constructor(
    database: DatabaseSync,
    file: DatabaseFile,
    reserve: Reserve,
    refuseIfEnded: () => void,
  ) {
    this.#database = database;
    this.#file = file;
    this.#reserve = reserve;
    this.#refuseIfEnded = refuseIfEnded;
    this.#startLogAgain = database.prepare('PRAGMA wal_checkpoint(RESTART)');
  }

  /**
   * @param attempt - synchronous; may run again, after its changes were undone
   * @param options.ends - whether it ends something: then it has all of the reserve
   */
  run<T, Input extends unknown[] = []>(
    attempt: (...input: Input) => T,
    { members = {}, ends = false }: { members?: ErrorMembers | undefined; ends?: boolean } = {},
    ...input: Input
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    try {
      if (isPastDeadline()) throw pastDeadline();
      // Only what is asked for from then on: the store is closed once these have been made.
      this.#refuseIfEnded();
    } catch (error) {
      reject(error);
      return promise;
    }
    const settle = { resolve: resolve as Write['resolve'], reject };
    this.#waiting.push({ attempt, input, ends, members, ...settle });
    this.#draining ??= this.#drain();
    return promise;
  }

  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // By the end of the turn, every request that arrived in it has queued its write.
      await setImmediate();
      await this.#commitBatch();
    }
    this.#draining = null;
  }

  async #commitBatch(): Promise<void> {
    if (!(await this.#begin(this.#waiting))) return;
    // After the wait for the lock, so that it includes the writes that arrived meanwhile.
    let batch = this.#waiting.splice(0, BATCH_SIZE);
    let hasThrown = false;
    let isFirstRoom = true;
    let isCommitted = false;
    do {
      try {
        if (hasThrown) this.#attemptApart(batch);
        if (hasThrown || attemptTogether(batch)) {
          this.#file.verify();
          this.#database.exec('COMMIT');
          isCommitted = true;
          // If another file has come to the path, what was committed is only found if ours is put back.
          this.#file.verify();
          // No caller learns of its write before COMMIT has returned.
          for (const { result, failure, resolve, reject } of batch) {
            if (failure === undefined) resolve(result);
            else reject(failure.error);
          }
          return;
        }
        hasThrown = true;
        rollBack(this.#database);
      } catch (error) {
        rollBack(this.#database);
        const canRepeat = isFull(error) ? this.#makeRoom(batch, isFirstRoom) : [];
        isFirstRoom = false;
        const repeated = new Set(canRepeat);
        this.#rejectAll(
          batch.filter((write) => !repeated.has(write)),
          error,
          isCommitted || mayBeWritten(error),
        );
        batch = canRepeat;
      }
    } while (batch.length > 0 && (await this.#begin(batch)));
  }

  /** @returns false if none of these writes can be made, which are told so */
  async #begin(writes: Write[]): Promise<boolean> {
    try {
      // IMMEDIATE takes the write lock at once. Taking it later, after a read, can fail for good.
      await retryWhileLocked(() => this.#database.exec('BEGIN IMMEDIATE'));
      return true;
    } catch (error) {
      for (const write of writes.splice(0)) write.reject(this.#file.toStoreError(error));
      return false;
    }
  }

  /** @returns the writes for which there is room now */
  #makeRoom(batch: Write[], isFirst: boolean): Write[] {
    if (isFirst && this.#startLogAnew()) return batch;
    if (this.#takeReserve({ ends: false })) return batch;
    const ending = batch.filter(({ ends }) => ends);
    return ending.length > 0 && this.#takeReserve({ ends: true }) ? ending : [];
  }

  /** As much as the database needs to take what the log has. Otherwise the log would take all of it. */
  #takeReserve(options: { ends: boolean }): boolean {
    let isTaken = false;
    while (this.#reserve.give(options)) {
      isTaken = true;
      if (this.#startLogAnew()) break;
    }
    return isTaken;
  }

  #rejectAll(batch: readonly Write[], error: unknown, mayBeMade: boolean): void {
    for (const { reject, members } of batch) {
      reject(
        mayBeMade ? new DomainError('outcome_unknown', members, error) : this.#toUnavailable(error),
      );
    }
  }

  /** What the log has goes to the database, so that the log needs no more room than it has. */
  #startLogAnew(): boolean {
    try {
      return this.#startLogAgain.get()?.busy === 0;
    } catch {
      // The database itself can't grow.
      return false;
    }
  }

  #attemptApart(batch: Write[]): void {
    for (const write of batch) {
      write.failure = undefined;
      this.#database.exec('SAVEPOINT before_it');
      try {
        write.result = write.attempt(...write.input);
        this.#database.exec('RELEASE before_it');
      } catch (error) {
        // SQLite may have rolled back everything, for example because the disk is full.
        if (isUnavailable(error)) throw error;
        this.#database.exec('ROLLBACK TO before_it; RELEASE before_it');
        write.failure = { error };
      }
    }
  }

  #toUnavailable(error: unknown): DomainError {
    const told = this.#file.toStoreError(error);
    return told instanceof DomainError ? told : new DomainError('store_unavailable', {}, error);
  }
}

/**
 * Without savepoints, since hardly any write throws: with one, SQLite keeps each page that a write changes as
 * it was before, which takes half of the CPU of a revocation's statements.
 *
 * @returns false if a write threw, so that all have to be undone
 */
function attemptTogether(batch: Write[]): boolean {
  try {
    for (const write of batch) write.result = write.attempt(...write.input);
    return true;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return false;
  }
}
