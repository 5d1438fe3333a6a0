import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { DomainError, type ErrorMembers } from '../../domain-error.ts';
import { untilUnlocked } from './busy.ts';
import { rollBack } from './roll-back.ts';
import { isUnavailable, mayBeWritten, toStoreError } from './sqlite-error.ts';

interface Write {
  /** May be run a second time, after what it did was undone. */
  attempt: () => unknown;
  members: ErrorMembers;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

// A write takes some 20 µs, so a full batch holds the thread for about 5 ms besides its commit.
const MOST_IN_A_BATCH = 256;

/**
 * Puts the writes that wait at the same time into one transaction.
 *
 * Each commit waits for the disk (`synchronous=FULL`), and that wait is nearly all of a write: with
 * a commit for each redemption a server was measured at 0.28 of what it does on an in-memory store,
 * with the commits shared at 0.99. A lone write waits for nothing but the end of the current turn
 * of the event loop.
 *
 * A transaction runs from BEGIN to COMMIT within one synchronous call. So no read on this connection
 * can fall between them and take for committed what is not, and reads need no connection of their
 * own.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #setSavepoint: StatementSync;
  #waiting: Write[] = [];
  #draining: Promise<void> | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#setSavepoint = database.prepare('SAVEPOINT before_it');
  }

  /**
   * Runs a write in a transaction of its own or shared with others, which it can't tell: where it
   * throws, what it did is undone and the others are not touched.
   *
   * @param attempt - synchronous; may be run a second time, after what it did was undone
   * @param members - of an `outcome_unknown`
   * @returns its result, once it is on disk
   * @throws DomainError `store_unavailable` where it can't be brought to disk; nothing was changed;
   *   `outcome_unknown` where it is not known whether it got there
   */
  run<T>(attempt: () => T, members: ErrorMembers = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ attempt, members, resolve: resolve as Write['resolve'], reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when no write waits. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The end of the turn: by then everything that arrived in it has queued its write.
      await setImmediate();
      await this.#commitBatch();
    }
    this.#draining = null;
  }

  async #commitBatch(): Promise<void> {
    try {
      // IMMEDIATE takes the write lock at once: to take it later, after a read, can fail for good.
      await untilUnlocked(() => this.#database.exec('BEGIN IMMEDIATE'));
    } catch (error) {
      for (const write of this.#waiting.splice(0)) write.reject(toStoreError(error));
      return;
    }
    // Taken only now, so that what arrived during a wait for the lock comes along.
    const batch = this.#waiting.splice(0, MOST_IN_A_BATCH);
    try {
      const settlements = this.#attemptAll(batch);
      this.#database.exec('COMMIT');
      // Nobody hears of a write before this line: until COMMIT has returned, it may not be.
      for (const settle of settlements) settle();
    } catch (error) {
      rollBack(this.#database);
      for (const { reject, members } of batch) {
        reject(
          mayBeWritten(error)
            ? new DomainError('outcome_unknown', members, error)
            : new DomainError('store_unavailable', {}, error),
        );
      }
    }
  }

  /**
   * The writes of a batch; what is returned tells each of them its result. Throws only where the
   * whole transaction can't go on.
   *
   * A savepoint for each write costs a quarter of the write, and hardly any write ever throws. So
   * there is one for all; where a write throws, they are undone, and made again with one for each.
   */
  #attemptAll(batch: readonly Write[]): (() => void)[] {
    this.#setSavepoint.run();
    try {
      return batch.map(({ attempt, resolve }) => {
        const result = attempt();
        return () => resolve(result);
      });
    } catch (error) {
      this.#undo(error);
      return batch.map((write) => this.#attemptOne(write));
    }
  }

  #attemptOne({ attempt, resolve, reject }: Write): () => void {
    this.#setSavepoint.run();
    try {
      const result = attempt();
      this.#database.exec('RELEASE before_it');
      return () => resolve(result);
    } catch (error) {
      this.#undo(error);
      return () => reject(error);
    }
  }

  /** Undoes what was done since the last savepoint, or throws where that can't be had. */
  #undo(error: unknown): void {
    // A full disk or the like concerns all, and SQLite may have rolled everything back by itself.
    if (isUnavailable(error)) throw error;
    this.#database.exec('ROLLBACK TO before_it; RELEASE before_it');
  }
}
