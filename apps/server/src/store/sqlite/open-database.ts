import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as NodeSqlite from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import { BadSetting } from '../../bad-setting.ts';
import { DomainError } from '../../domain-error.ts';
import type { StoreOptions } from '../store.ts';
import { claimDatabase } from '../use-mark.ts';
import { tightenFile } from './database-file.ts';
import { prepareHasEndpoints } from './endpoints.ts';
import { BLOCKING_MS, isLocked, isUnavailable, retryWhileLocked } from './errors.ts';
import { refuseForeign, sign } from './foreign-file.ts';
import { migrate, nameOf, type SqliteStep, versionOf } from './migrations.ts';
import { useMarks } from './use-mark.ts';

export const IN_MEMORY = ':memory:';

/**
 * @throws BadSetting if Node has no SQLite
 * @throws ForeignFile if the file is not a database of Latchkey
 */
export async function openDatabase(
  path: string,
  {
    create = true,
    migrate: mayMigrate = true,
    migrations,
    claim,
    onWarning,
  }: Pick<StoreOptions, 'claim' | 'create' | 'onWarning'> & {
    migrate?: boolean | 'all';
    migrations?: readonly SqliteStep[] | undefined;
  } = {},
): Promise<DatabaseSync> {
  const { DatabaseSync } = nodeSqlite();
  let database: DatabaseSync | null = null;
  try {
    if (path !== IN_MEMORY) prepareFile(path, create);
    const opened = new DatabaseSync(path);
    database = opened;
    if (!create) await retryWhileLocked(() => refuseNew(opened, path));
    if (path !== IN_MEMORY) {
      const warning = tightenFile(path);
      if (warning !== null) onWarning?.(warning);
    }
    await retryWhileLocked(() => sign(opened));
    await retryWhileLocked(() => configure(opened));
    await retryWhileLocked(() => migrate(opened, path, mayMigrate, migrations));
    if (claim) {
      const hasEndpoints = () => retryWhileLocked(prepareHasEndpoints(opened));
      const claimed = { ...useMarks(opened), name: nameOf(path), hasEndpoints };
      await claimDatabase(claimed, claim, onWarning);
    }
    return opened;
  } catch (error) {
    database?.close();
    throw isUnavailable(error) || isFileError(error) ? cannotOpen(path, error) : error;
  }
}

/** The file has personal data and hashes of credentials, so only its owner may read it. */
function prepareFile(path: string, create: boolean): void {
  refuseForeign(path);
  if (!create && !existsSync(path)) throw noDatabase(path);
  makeFolder(dirname(path));
  // SQLite gives the write-ahead log the same mode.
  if (!existsSync(path)) writeFileSync(path, '', { flag: 'a', mode: 0o600 });
  // SQLite would open a read-only file, and then refuse every write.
  accessSync(path, constants.R_OK | constants.W_OK);
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

/** No `import`: a Node without SQLite has to get a message, and some bundlers strip `node:`. */
export function nodeSqlite(): typeof NodeSqlite {
  // Node 23.0 to 23.3 hide it behind a flag, and some systems build Node without it.
  const module: typeof NodeSqlite | undefined = withoutSqliteWarning(() =>
    process.getBuiltinModule('node:sqlite'),
  );
  if (!module) {
    throw new BadSetting(
      `A "file:" DATABASE_URL needs a Node with SQLite, and ${process.execPath} is Node ${process.versions.node} without it. Install Node 24, or use a "mongodb:" DATABASE_URL.`,
    );
  }
  return module;
}

/** Some Node releases print an experimental warning on the stderr of every command. */
function withoutSqliteWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite is an experimental feature')) {
      emitWarning.call(process, warning, ...rest);
    }
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
