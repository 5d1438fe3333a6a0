import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import type { StoreOptions } from '@latchkey/store/store';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import { isMountedAlone, MOUNT_THE_FOLDER, tightenFile, whyNotAlone } from './database-file.ts';
import { BLOCKING_MS, isFull, isLocked, isUnavailable, retryWhileLocked } from './errors.ts';
import { refuseForeign, sign } from './foreign-file.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { leftoversOf } from './partial-files.ts';
import { createSchema, versionOf } from './schema.ts';
import { closeDatabase, enterIncomplete, prepareVouch } from './wal-mark.ts';

export const IN_MEMORY = ':memory:';

/**
 * @throws BadSetting if Node has no SQLite
 * @throws ForeignFile if the file is not a database of Latchkey
 * @throws IncompleteDatabase if its write-ahead log is gone
 */
export async function openDatabase(
  path: string,
  {
    create = true,
    claim,
    clock = Date.now,
    onWarning,
  }: Partial<Pick<StoreOptions, 'claim' | 'clock' | 'create' | 'onWarning'>> = {},
): Promise<DatabaseSync> {
  const { DatabaseSync } = nodeSqlite();
  let database: DatabaseSync | null = null;
  try {
    if (path !== IN_MEMORY) {
      if (claim) refuseMountedAlone(path);
      prepareFile(path, create);
    }
    const opened = new DatabaseSync(path);
    database = opened;
    if (!create) await retryWhileLocked(() => refuseNew(opened, path));
    if (path !== IN_MEMORY) {
      const warning = tightenFile(path);
      if (warning !== null) onWarning?.(warning);
    }
    await retryWhileLocked(() => {
      // Before anything is written, such as the mode of a backup.
      if (path !== IN_MEMORY) enterIncomplete(opened, path, claim?.incomplete, onWarning);
      sign(opened);
      configure(opened);
      createSchema(opened, path);
      if (path !== IN_MEMORY) beginLog(opened, path, clock());
    });
    return opened;
  } catch (error) {
    if (database !== null) closeDatabase(database, path);
    throw isUnavailable(error) || isFileError(error) ? cannotOpen(path, error) : error;
  }
}

/** @throws UnusableDatabase */
export function refuseMountedAlone(path: string): void {
  if (!isMountedAlone(path)) return;
  throw new UnusableDatabase(`${whyNotAlone(path)} ${MOUNT_THE_FOLDER}`);
}

function beginLog(database: DatabaseSync, path: string, now: Milliseconds): void {
  try {
    prepareVouch(database, path)(now);
  } catch (error) {
    // Until there is room, this database can only be read, and a sweep begins the log later.
    if (!isFull(error)) throw error;
  }
}

/** The file has personal data and hashes of credentials, so only its owner may read it. */
function prepareFile(path: string, create: boolean): void {
  refuseForeign(path);
  if (!existsSync(path)) {
    refuseUnfinished(path);
    if (!create) throw noDatabase(path);
    makeFolder(dirname(path));
    // SQLite gives the write-ahead log the same mode.
    writeFileSync(path, '', { flag: 'a', mode: 0o600 });
  }
  // SQLite would open a read-only file, and then refuse every write.
  accessSync(path, constants.R_OK | constants.W_OK);
}

/** @throws UnusableDatabase if a restore was killed before there was a database */
function refuseUnfinished(path: string): void {
  const [left] = leftoversOf(path);
  if (left === undefined) return;
  throw new UnusableDatabase(
    `There is no database at ${path} yet: \`latchkey restore\` was killed, and left ${left}. Restore again. To begin with an empty database, delete ${left}.`,
  );
}

function refuseNew(database: DatabaseSync, path: string): void {
  if (versionOf(database, path) === 0) throw noDatabase(path);
}

function noDatabase(path: string): DomainError {
  const message = `There is no database at ${path}. Check DATABASE_URL and the directory that you are in; \`latchkey serve\` creates a database.`;
  return new DomainError('store_unavailable', {}, new Error(message));
}

/** `mkdirSync` with `recursive` never returns below /proc (Node 20 and 24). */
export function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (existsSync(folder) || parent === folder) return;
  makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

export function configure(database: DatabaseSync): void {
  database.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}`);
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal' && mode !== 'memory') {
    throw new Error(
      `SQLite cannot keep a write-ahead log here (journal_mode is ${mode}): the file system lacks shared memory or locks, as network file systems do. Point DATABASE_URL at a file on a local disk.`,
    );
  }
  // FULL: a commit is on disk when it returns. macOS needs fullfsync as well.
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  // Overwrites deleted data, such as an erased name.
  database.exec('PRAGMA secure_delete = ON');
  // A checkpoint waits for the disk twice. Every 16 MiB instead of every 4: 1.03 times the writes.
  database.exec('PRAGMA wal_autocheckpoint = 4096');
  // 8 MiB hold the upper levels of trees with millions of grants. 32 MiB: 1.07 times the CPU.
  database.exec('PRAGMA cache_size = -8192');
}

/** In WAL mode, each open connection holds a shared lock. False if there is another one. */
export async function lockForItself(database: DatabaseSync): Promise<boolean> {
  try {
    // A lock that a connection has before can be given back: see `closeAlone`.
    database.prepare('PRAGMA user_version').get();
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    await retryWhileLocked(() => database.exec('BEGIN EXCLUSIVE; COMMIT'));
    return true;
  } catch (error) {
    if (isLocked(error)) return false;
    throw error;
  }
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function cannotOpen(path: string, cause: unknown): DomainError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The SQLite database ${path} cannot be opened: ${reason}. Check that DATABASE_URL names a Latchkey database or a new file, that this user may write to it and to its directory, and that no other program holds it locked.`;
  return new DomainError('store_unavailable', {}, new Error(message, { cause }));
}
