import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DomainError } from '../../domain-error.ts';
import { BLOCKING_MS, untilUnlocked } from './busy.ts';
import { migrate } from './migrations.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { isUnavailable } from './sqlite-error.ts';

/** A path that is no file: the database lives as long as its connection. */
const IN_MEMORY = ':memory:';

/**
 * Opens the database, made and brought to this program's version where need be.
 *
 * @throws DomainError `store_unavailable`, whose cause names the file and what to check
 * @throws Error where the database is of a newer Latchkey, or Node has no SQLite
 */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = nodeSqlite();
  let database: DatabaseSync | null = null;
  try {
    if (path !== IN_MEMORY) prepareFile(path);
    const opened = new DatabaseSync(path);
    database = opened;
    // Another process that opens or closes the file just now may hold it for a moment.
    await untilUnlocked(() => configure(opened));
    await untilUnlocked(() => migrate(opened, path));
    return opened;
  } catch (error) {
    database?.close();
    throw isUnavailable(error) || isFileError(error) ? cannotOpen(path, error) : error;
  }
}

/** The file holds hashes of credentials and the accounts' data: for its owner only. */
function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its write-ahead log the mode of the file.
  if (!existsSync(path)) writeFileSync(path, '', { flag: 'a', mode: 0o600 });
  // SQLite opens a file that it may not write to all the same, and would refuse each write for good.
  accessSync(path, constants.R_OK | constants.W_OK);
}

function configure(database: DatabaseSync): void {
  database.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}`);
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal' && mode !== 'memory') {
    throw new Error(
      `SQLite cannot keep a write-ahead log here (journal_mode is ${mode}): the file system lacks shared memory or locks, as network file systems do. Point DATABASE_URL at a file on a local disk.`,
    );
  }
  // FULL: a commit returns when its part of the log is on disk; less would lose redemptions with
  // the power. On macOS that takes fullfsync too; elsewhere that has no effect.
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  // Every 16 MiB of the log, not every 4: what it brings into the file waits for the disk twice. In
  // one run, 1.03 times the revocations.
  database.exec('PRAGMA wal_autocheckpoint = 4096');
  // 8 MiB of pages, not 2, for the upper parts of the trees of some millions of grants: in an older
  // layout of them, a look at any of 5,000,000 took 1.79 times as long with 2 as with 1,000 stored. Not
  // 32: a commit may go through the whole table of the pages held, and an exchange took 1.07 times the
  // CPU with that.
  database.exec('PRAGMA cache_size = -8192');
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function cannotOpen(path: string, cause: unknown): DomainError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The SQLite database ${path} cannot be opened: ${reason}. Check that DATABASE_URL names a Latchkey database or a new file, that this user may write to it and to its directory, and that no other program holds it locked.`;
  return new DomainError('store_unavailable', {}, new Error(message, { cause }));
}
