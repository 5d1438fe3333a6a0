import type { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';

// Primary result codes: the low byte of `errcode`, https://sqlite.org/rescode.html.
const BUSY = 5;
const CORRUPT = 11;
const FULL = 13;
const NOTADB = 26;
const UNAVAILABLE = new Set([
  3, // PERM
  BUSY, // another process holds the lock
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  CORRUPT,
  FULL,
  14, // CANTOPEN
  15, // PROTOCOL: the locks of the write-ahead log are not available
  22, // NOLFS: the file is larger than the file system allows
  NOTADB,
]);

const IOERR_FSYNC = 1034;
// The index of the write-ahead log can't grow.
const IOERR_SHMSIZE = 4874;

function errorCode(error: unknown): number | null {
  const errcode = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof errcode === 'number' ? errcode : null;
}

function primaryCode(error: unknown): number | null {
  const code = errorCode(error);
  return code === null ? null : code & 0xff;
}

/** After a crash, a commit whose sync failed may still be found in the log. */
export function mayBeWritten(error: unknown): boolean {
  return errorCode(error) === IOERR_FSYNC;
}

export function isLocked(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

export function isFull(error: unknown): boolean {
  return primaryCode(error) === FULL || errorCode(error) === IOERR_SHMSIZE;
}

export function isUnavailable(error: unknown): boolean {
  const code = primaryCode(error);
  return code !== null && UNAVAILABLE.has(code);
}

/** The file has what SQLite never wrote. */
export function isDamage(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CORRUPT || code === NOTADB;
}

export function toStoreError(error: unknown): unknown {
  return isUnavailable(error) ? new DomainError('store_unavailable', {}, error) : error;
}

// SQLite's own wait blocks the thread. A commit of another process takes a few milliseconds.
export const BLOCKING_MS = 20;

// Longer locks, of a backup or a shell, are awaited without blocking. Clients wait longer than 5 s.
const TIMEOUT_MS = 5_000;
const PAUSE_MS = 10;

export async function retryWhileLocked<T>(attempt: () => T): Promise<T> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isLocked(error) || performance.now() > deadline) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}

export function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // SQLite has already rolled back: https://sqlite.org/lang_transaction.html, section 3.
  }
}
