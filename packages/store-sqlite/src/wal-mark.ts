import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { formatTimestamp } from '@latchkey/schema';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import type { Claim } from '@latchkey/store/use-mark';
import { sizeOf } from './database-file.ts';
import { isLocked } from './errors.ts';
import { hasLog, saltsOf } from './log-file.ts';
import { nodeSqlite } from './node-sqlite.ts';

/**
 * What a database says of its write-ahead log, in one row: see decision 72.
 *
 * - `complete`: the file has all that was committed.
 * - `opening`: a process is about to write. The file itself may still say `complete`.
 * - `in_use`: the file itself says so, too. Without its log, it lacks what was changed since `since`.
 * - `behind`: it lacks what was changed since `since`, with or without a log.
 */
interface WalMark {
  state: 'complete' | 'opening' | 'in_use' | 'behind';
  since: Milliseconds;
}

/** A database may lack its last changes, such as revocations. Only an operator can decide to use it. */
export class IncompleteDatabase extends UnusableDatabase {
  override readonly name = 'IncompleteDatabase';
}

function read(database: DatabaseSync): WalMark {
  // A new database has no tables yet.
  const find = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'wal_mark'");
  if (find.get() === undefined) return { state: 'complete', since: 0 };
  return database.prepare('SELECT state, since FROM wal_mark').get() as unknown as WalMark;
}

/**
 * An open connection has a lock, so that no other process removes the log.
 *
 * @param database - it is read before the log: a process that has just begun it has both
 * @returns null if the database may be used
 */
function incompleteMark(database: DatabaseSync, path: string): WalMark | null {
  const mark = read(database);
  const isComplete = mark.state === 'complete' || (mark.state !== 'behind' && hasLog(path));
  return isComplete ? null : mark;
}

function whyRefused({ state, since }: WalMark, path: string): string {
  const time = formatTimestamp(since);
  const what = `The database ${path} may lack what was changed since ${time}, such as revocations.`;
  const why =
    state === 'behind'
      ? 'A `latchkey revoke-again` on it has not ended. Run'
      : `It was in use, and its write-ahead log is gone: ${path}-wal is missing or empty. If the log still exists, such as in a stopped container, put it beside the database, and start again. If another program, such as sqlite3, was the last to close the database, nothing is missing: use it as it is. Otherwise run`;
  return `${what} ${why} \`latchkey revoke-again --since ${time}\` with the logs of the service since then. To use the database as it is, run \`latchkey serve --incomplete\` once: what was revoked since then may work again.`;
}

/** Why a database may not be used. @returns null if it may */
export function whyIncomplete(database: DatabaseSync, path: string): string | null {
  const mark = incompleteMark(database, path);
  return mark && whyRefused(mark, path);
}

/** @throws IncompleteDatabase */
export function refuseIncomplete(database: DatabaseSync, path: string): void {
  const why = whyIncomplete(database, path);
  if (why !== null) throw new IncompleteDatabase(why);
}

export const SET_COMPLETE = "UPDATE wal_mark SET state = 'complete'";
const SET_BEHIND = "UPDATE wal_mark SET state = 'behind'";

/**
 * Refuses an incomplete database, or does with it what an operator has decided.
 *
 * @throws IncompleteDatabase
 */
export function enterIncomplete(
  database: DatabaseSync,
  path: string,
  decided: Claim['incomplete'],
  onWarning: (message: string) => void = () => {},
): void {
  const mark = incompleteMark(database, path);
  if (mark === null) return;
  if (decided === undefined) throw new IncompleteDatabase(whyRefused(mark, path));
  const { since } = mark;
  if (typeof decided === 'object' && decided.since > since) {
    throw new IncompleteDatabase(
      `The database ${path} may lack what was changed since ${formatTimestamp(since)}. Give that time to --since, or an earlier one, and all logs of the service since then.`,
    );
  }
  database.exec(typeof decided === 'object' ? SET_BEHIND : SET_COMPLETE);
  if (decided === 'accept') {
    const time = formatTimestamp(since);
    onWarning(
      `The database ${path} was taken into use as it is. What was revoked between ${time} and this start may work again: run \`latchkey revoke-again --since ${time}\` with the logs of the service.`,
    );
  }
}

/**
 * Called before the first write, and now and then. Something that reads the log all the time can hold it up.
 *
 * @returns brings to the file what the log has, and then marks the file
 */
export function prepareVouch(database: DatabaseSync, path: string): (now: Milliseconds) => void {
  const begin = database.prepare(
    "UPDATE wal_mark SET state = 'opening', since = ? WHERE state = 'complete'",
  );
  const checkpoint = database.prepare('PRAGMA wal_checkpoint');
  // After the checkpoint, so that the file has this time only once it has all that was committed before.
  const vouch = database.prepare(
    "UPDATE wal_mark SET state = 'in_use', since = ? WHERE state IN ('opening', 'in_use')",
  );
  const countChanges = database.prepare('SELECT total_changes() AS changes');
  const changes = () => countChanges.get()?.changes;
  let vouchedAt = changes();
  let last: { now: Milliseconds; log: string } | null = null;

  return (now) => {
    if (changes() === vouchedAt && read(database).state === 'in_use' && hasLog(path)) return;
    begin.run(now);
    if (isCheckpointed(checkpoint.get())) vouch.run(now);
    // A replicator holds every checkpoint up, and lets the log begin anew now and then.
    else if (last !== null && last.log !== saltsOf(path)) vouch.run(last.now);
    last = { now, log: saltsOf(path) };
    vouchedAt = changes();
  };
}

const isCheckpointed = (row: ReturnType<ReturnType<DatabaseSync['prepare']>['get']>) =>
  row?.busy === 0 && row.log === row.checkpointed;

/**
 * Closes a connection that can write. If it is the last one to the file, the file becomes complete. If not, the
 * last one does that.
 */
export function closeDatabase(database: DatabaseSync, path: string): void {
  closeBesideLog(database, path);
  for (let tries = 1; ; tries++) {
    try {
      completeFile(path);
      return;
    } catch (error) {
      // Another process has it open, or it can't be written. The log stays.
      if (!isLocked(error) || tries === CLOSING_TRIES) return;
    }
    // Two that close at once hold each other up: the random wait lets one of them go first.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * (2 << tries));
  }
}

/** They wait 28 ms at most. Of 200 pairs that closed at once, 195 left the file complete, and with one try 156. */
const CLOSING_TRIES = 4;

/** The last connection removes the log, unless it can only read. */
export function closeBesideLog(database: DatabaseSync, path: string): void {
  let reader: DatabaseSync | undefined;
  try {
    reader = new (nodeSqlite().DatabaseSync)(path, { readOnly: true });
    // For the moment in which another process looks whether it is alone.
    reader.exec('PRAGMA busy_timeout = 1000');
    // In WAL mode, it has a lock from its first read until it is closed.
    reader.prepare('PRAGMA user_version').get();
  } catch {
    // The file is gone, or another process has it for itself: then this connection has no log to remove.
  } finally {
    database.close();
    reader?.close();
  }
}

/** @throws Error of SQLite, if another process has it open: see `isLocked` */
export function completeFile(path: string): void {
  // SQLite would create it, or make an empty file a database.
  if (sizeOf(path) === 0) return;
  const database = new (nodeSqlite().DatabaseSync)(path);
  try {
    database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
  } catch (error) {
    closeBesideLog(database, path);
    throw error;
  }
  closeAlone(database, path);
}

/** @param database - that no other process has open */
export function closeAlone(database: DatabaseSync, path: string): void {
  try {
    // One that is incomplete stays as it is, for the next start to find.
    if (incompleteMark(database, path) === null) {
      // First all the rest, so that the checkpoint of the end has only this row to bring.
      const isAllThere = isCheckpointed(database.prepare('PRAGMA wal_checkpoint').get());
      if (isAllThere && read(database).state !== 'complete') {
        database.exec(SET_COMPLETE);
      }
    }
  } catch (error) {
    // The file still needs its log, which SQLite would remove behind the last lock.
    database.exec('PRAGMA locking_mode = NORMAL');
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    closeBesideLog(database, path);
    throw error;
  }
  database.close();
}
