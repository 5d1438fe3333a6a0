import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { BLOCKING_MS, isUnavailable, rollBack } from './errors.ts';

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

  /**
   * Another program, which reads the log most of the time, has begun it anew. What is left behind its end is of the
   * former one. As SQLite does, this cuts it off in a transaction, so that nobody else writes.
   */
  function cutOff(): boolean {
    database.exec('BEGIN IMMEDIATE');
    try {
      const file = openSync(`${path}-wal`, 'r+');
      try {
        ftruncateSync(file, endOf(file));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
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
      if (!beginAnew() && !(first !== log && cutOff())) return false;
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

// https://sqlite.org/fileformat2.html#walformat: each log has other salts, which are in each of its frames.
const HEADER = 32;
const PAGE_SIZE_AT = 8;
const SALTS_AT = 16;
const SALTS = 8;
const FRAME_HEADER = 24;
const FRAME_SALTS_AT = 8;

/** Empty if there is no log. */
function saltsOf(path: string): string {
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return '';
  const file = openSync(`${path}-wal`, 'r');
  try {
    return read(file, SALTS_AT, SALTS).toString('hex');
  } finally {
    closeSync(file);
  }
}

/** The end of the last frame of this log. One that was rolled back counts too. */
function endOf(file: number): number {
  const { size } = fstatSync(file);
  const header = read(file, 0, HEADER);
  const salts = header.subarray(SALTS_AT, SALTS_AT + SALTS);
  const frame = FRAME_HEADER + header.readUInt32BE(PAGE_SIZE_AT);
  for (let end = HEADER; end <= size; end += frame) {
    if (end + frame > size || !read(file, end + FRAME_SALTS_AT, SALTS).equals(salts)) return end;
  }
  return size;
}

function read(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, at);
  return bytes;
}
