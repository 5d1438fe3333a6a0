import { DomainError } from '@latchkey/domain/domain-error';
import type { ByHand } from '@latchkey/store/operations/by-hand';
import { operations } from '@latchkey/store/operations/operations';
import { sqlByHand, sqlClaimed, sqlCounts, sweepsOf } from '@latchkey/store/sql/by-hand';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { claimDatabase } from '@latchkey/store/use-mark';
import { changesOf, dialect, type Queues, senderOf, sqliteAdapter } from './adapter.ts';
import { inMemory, sizesOf, watchDatabaseFile } from './database-file.ts';
import { prepareEmptyLog } from './empty-log.ts';
import { retryWhileLocked } from './errors.ts';
import { GroupCommit } from './group-commit.ts';
import { GroupRead } from './group-read.ts';
import { recordEvents } from './marks.ts';
import { IN_MEMORY, openDatabase } from './open-database.ts';
import { noReserve, reserveBeside } from './reserve.ts';
import { nameOf, reductionIndexes } from './schema.ts';
import { closeDatabase, prepareVouch } from './wal-mark.ts';

const VOUCH_EVERY_MS = 60_000;
const RESERVE_EVERY_MS = 2_000;

export interface SqliteStoreOptions extends StoreOptions {
  path: string;
}

/** Several processes on one machine may open the same file. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, onError, onLost = () => {}, revokedGrantDays: days = null } = options;
  const database = await openDatabase(path, options);
  const file = path === IN_MEMORY ? inMemory : watchDatabaseFile(path, onLost);
  const ping = database.prepare('SELECT count(*) FROM sqlite_schema');
  const reserve = path === IN_MEMORY ? noReserve : reserveBeside(path);
  const reads = new GroupRead(database, file, refuseIfEnded);
  const commits = new GroupCommit(database, file, reserve, refuseIfEnded);
  let closing: Promise<void> | null = null;

  // A read that decides is one statement, so it sees one moment and all commits before it.
  const queues: Queues = {
    read: reads.run.bind(reads),
    write: commits.run.bind(commits),
  };
  const sender = senderOf(database, queues);

  function refuseIfEnded(): void {
    file.refuseIfLost();
    if (closing) throw new DomainError('store_unavailable', {}, new Error('The store is closed.'));
  }

  const claimed = sqlClaimed(dialect, sender, nameOf(path));
  try {
    if (options.claim) await claimDatabase(claimed, options.claim, options.onWarning);
    if (days !== null) await retryWhileLocked(() => database.exec(reductionIndexes));
  } catch (error) {
    closeDatabase(database, path);
    throw error;
  }
  // Otherwise pages with personal data go to a folder for temporary files, and writes fail once that is
  // full. Not before: the index of the sweeps sorts a whole table.
  database.exec('PRAGMA temp_store = MEMORY');
  // SQLite drops temporary triggers where it changes that.
  const record = options.recordsEvents ? recordEvents(database) : undefined;

  const vouchFor = path === IN_MEMORY ? null : prepareVouch(database, path);
  function vouch(): void {
    if (vouchFor === null) return;
    // Of a log that another file has replaced, nothing is known.
    file.verify();
    vouchFor(clock());
  }

  async function close(): Promise<void> {
    clearInterval(vouching);
    clearInterval(reserving);
    await Promise.all([commits.idle(), filling]);
    if (path === IN_MEMORY) return database.close();
    try {
      // If the checkpoint fails, nothing is lost: the log stays.
      vouch();
    } catch (error) {
      onError?.(error);
    } finally {
      closeDatabase(database, path);
    }
  }

  let filling: Promise<void> | null = null;
  function fillReserve(): void {
    filling ??= reserve
      .fill()
      .catch((error) => onError?.(error))
      .finally(() => {
        filling = null;
      });
  }
  // Not at once, for the sake of a quick start.
  const reserving = options.keepsReserve
    ? setInterval(fillReserve, RESERVE_EVERY_MS).unref()
    : undefined;

  const vouching = setInterval(() => {
    retryWhileLocked(vouch).catch((error) => {
      if (!closing) onError?.(error);
    });
  }, VOUCH_EVERY_MS).unref();

  // Most processes that open a file, such as a command, do neither.
  let emptyLog: ReturnType<typeof prepareEmptyLog> | undefined;
  let sweep: ReturnType<typeof sweepsOf> | undefined;
  const byHand: ByHand = {
    ...sqlByHand(dialect, sender),
    async emptyLog(deleted) {
      if (path === IN_MEMORY) return true;
      emptyLog ??= prepareEmptyLog(database, path);
      return emptyLog(deleted);
    },
    sweepExpired(now, limit) {
      sweep ??= sweepsOf(({ table, key, expiry }) => {
        const remove = changesOf(
          database,
          (statement) =>
            `DELETE FROM ${table} WHERE ${key} IN
          (SELECT ${key} FROM ${table} WHERE ${expiry} <= ${statement.given('now', 'time')} LIMIT ${statement.given('limit', 'number')})`,
        );
        return (input) => queues.write(remove, {}, input);
      });
      return sweep(now, limit);
    },
  };

  return {
    ...operations(sqliteAdapter(database, queues, record), clock, byHand, { days }),
    ...sqlCounts(dialect, sender),

    async measure() {
      const { backed_up_at = null } = (await claimed.find()) ?? {};
      const { database, free } = path === IN_MEMORY ? { database: 0, free: null } : sizesOf(path);
      return { database_bytes: database, free_bytes: free, backed_up_at };
    },

    admitEventsKeys: (eventsKeys) => claimDatabase(claimed, { evenIfCopied: false, eventsKeys }),
    findEventsKeys: async () => (await claimed.find())?.events_keys,

    ping: () => queues.read(() => void ping.get()),
    close: () => (closing ??= close()),
  };
}
