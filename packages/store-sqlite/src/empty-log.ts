import type { DatabaseSync } from 'node:sqlite';
import { BLOCKING_MS, isUnavailable, rollBack } from './errors.ts';
import { cutOffFormer, saltsOf } from './log-file.ts';

/**
 * Leaves nothing in the write-ahead log of what was deleted before the first call about it. It never waits: while
 * another process reads the log, such as a replicator, a call does nothing.
 *
 * @returns one try, by what was deleted, such as the id of an account: whether the log has nothing of it any more
 */
export function prepareEmptyLog(
  database: DatabaseSync,
  path: string,
): (deleted: string) => boolean {
  const restart = database.prepare('PRAGMA wal_checkpoint(RESTART)');
  const look = database.prepare('PRAGMA wal_checkpoint');
  /** Which log there was at the first call. */
  const found = new Map<string, string>();

  /**
   * A log that is truncated looks like one that was lost: see decision 72. So its first new commit truncates it.
   * That takes a moment in which nobody reads the log.
   */
  function beginAnew(): boolean {
    if (restart.get()?.busy !== 0) return false;
    // SQLite writes no page that stays the same. A millisecond less is no less true.
    database.exec('PRAGMA journal_size_limit = 0; UPDATE wal_mark SET since = since - 1');
    // With more in it, the first commit may be of another process, which leaves the rest of the log.
    return Number(look.get()?.log) <= 1;
  }

  /** Who reads the log most of the time, such as Litestream, begins it anew now and then, and leaves the former one behind its end. */
  function removeFormer(): true {
    database.exec('BEGIN IMMEDIATE');
    try {
      cutOffFormer(path);
      return true;
    } finally {
      rollBack(database);
    }
  }

  return (deleted) => {
    const log = saltsOf(path);
    const first = found.get(deleted) ?? log;
    found.set(deleted, first);
    try {
      database.exec('PRAGMA busy_timeout = 0');
      if (!beginAnew() && !(first !== log && removeFormer())) return false;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return false;
    } finally {
      database.exec(`PRAGMA journal_size_limit = -1; PRAGMA busy_timeout = ${BLOCKING_MS}`);
    }
    found.delete(deleted);
    return true;
  };
}
