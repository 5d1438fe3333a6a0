import { DomainError } from '../../domain-error.ts';

// Primary result codes, https://sqlite.org/rescode.html; the low byte of `errcode`.
const BUSY = 5;
const UNAVAILABLE = new Set([
  3, // PERM
  BUSY, // another process holds the lock
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL: the locks of the write-ahead log could not be had
  22, // NOLFS: the file is larger than the file system allows
  26, // NOTADB
]);

const IOERR_FSYNC = 1034;

function errorCode(error: unknown): number | null {
  const errcode = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof errcode === 'number' ? errcode : null;
}

function primaryCode(error: unknown): number | null {
  const code = errorCode(error);
  return code === null ? null : code & 0xff;
}

/**
 * Whether a commit that failed with this may yet be found made: all of it was written, and only the
 * wait for the disk failed. Here it is undone, and the next commit takes its place in the log; but a
 * process that ends before leaves it there, whole, for whoever opens the file next.
 */
export function mayBeWritten(error: unknown): boolean {
  return errorCode(error) === IOERR_FSYNC;
}

/** Whether an error says that another process holds the lock, and to wait. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** Whether an error is the world's (locks, disk, file) and not a mistake in our own SQL. */
export function isUnavailable(error: unknown): boolean {
  const code = primaryCode(error);
  return code !== null && UNAVAILABLE.has(code);
}

/** `store_unavailable` for what is the world's fault; a mistake of ours stays what it is. */
export function toStoreError(error: unknown): unknown {
  return isUnavailable(error) ? new DomainError('store_unavailable', {}, error) : error;
}
