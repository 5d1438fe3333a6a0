import { DomainError } from '@latchkey/domain/domain-error';
import { operations } from '@latchkey/store/operations/operations';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { claimDatabase } from '@latchkey/store/use-mark';
import { type Queues, sqliteAdapter } from './adapter.ts';
import { prepareConnected } from './connected.ts';
import { prepareCounts } from './counts.ts';
import { inMemory, sizesOf, watchDatabaseFile } from './database-file.ts';
import { prepareEmptyLog } from './empty-log.ts';
import { retryWhileLocked } from './errors.ts';
import { GroupCommit } from './group-commit.ts';
import { GroupRead } from './group-read.ts';
import { recordEvents } from './marks.ts';
import { IN_MEMORY, openDatabase } from './open-database.ts';
import { preparePending } from './pending.ts';
import { prepareRateLimits } from './rate-limits.ts';
import { noReserve, reserveBeside } from './reserve.ts';
import { nameOf, reductionIndexes } from './schema.ts';
import { prepareSweeps } from './sweep.ts';
import { prepareHasEndpoints, prepareUseMarks } from './use-mark.ts';
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
  const sweeps = once(() => prepareSweeps(database));
  const emptyLog = once(() => prepareEmptyLog(database, path));
  const file = path === IN_MEMORY ? inMemory : watchDatabaseFile(path, onLost);
  const connected = atFirstUse(prepareConnected, database);
  const pending = atFirstUse(preparePending, database);
  const counts = atFirstUse(prepareCounts, database);
  const rateLimits = atFirstUse(prepareRateLimits, database);
  const useMarks = prepareUseMarks(database);
  const ping = database.prepare('SELECT count(*) FROM sqlite_schema');
  const reserve = path === IN_MEMORY ? noReserve : reserveBeside(path);
  const reads = new GroupRead(database, file, refuseIfEnded);
  const commits = new GroupCommit(database, file, reserve);
  let closing: Promise<void> | null = null;

  // A read that decides is one statement, so it sees one moment and all commits before it.
  const read =
    <Input extends unknown[], T>(statement: (...input: Input) => T) =>
    (...input: Input): Promise<T> =>
      reads.run(statement, ...input);

  const write =
    <Input extends unknown[], T>(statements: (...input: Input) => T) =>
    async (...input: Input): Promise<T> => {
      refuseIfEnded();
      return commits.run(statements, {}, ...input);
    };

  function refuseIfEnded(): void {
    file.refuseIfLost();
    if (closing) throw new DomainError('store_unavailable', {}, new Error('The store is closed.'));
  }

  const claimed = {
    name: nameOf(path),
    find: read(useMarks.find),
    replace: write(useMarks.replace),
    hasEndpoints: read(prepareHasEndpoints(database)),
  };
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

  const queues: Queues = {
    read: reads.run.bind(reads),
    async write(attempt, options, ...input) {
      refuseIfEnded();
      return commits.run(attempt, options, ...input);
    },
  };
  const adapter = sqliteAdapter(database, queues, record);

  const declared = operations(
    adapter,
    clock,
    {
      connectedApplications: read(connected.connectedApplications),
      endpointsWithDue: read(pending.endpointsWithDue),
      countPending: read(pending.countPending),
      emptyLog: async (deleted) => path === IN_MEMORY || emptyLog()(deleted),
      async sweepExpired(now, limit) {
        let isMore = false;
        for (const { step } of sweeps()) isMore = (await write(step)(now, limit)) || isMore;
        return isMore;
      },
    },
    { days },
  );

  return {
    ...declared,

    measure: read(() => {
      const sizes = path === IN_MEMORY ? { database: 0, free: null } : sizesOf(path);
      return {
        database_bytes: sizes.database,
        free_bytes: sizes.free,
        backed_up_at: useMarks.find()?.backed_up_at ?? null,
      };
    }),

    admitEventsKeys: (eventsKeys) => claimDatabase(claimed, { evenIfCopied: false, eventsKeys }),
    findEventsKeys: read(() => useMarks.find()?.events_keys),

    addCounts: write(counts.addCounts),
    listCounts: read(counts.listCounts),
    findLiveCount: read(counts.findLiveCount),
    countActiveGrants: read(counts.countActiveGrants),
    keepLiveCount: write(counts.keepLiveCount),

    addToCount: write(rateLimits.addToCount),

    ping: read(() => void ping.get()),
    close: () => (closing ??= close()),
  };
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** The statements of a group are prepared when the first of them is used: a command uses few. */
function atFirstUse<Group extends object, Input extends unknown[]>(
  prepare: (...made: Input) => Group,
  ...made: Input
): Group {
  let group: Group | undefined;
  return new Proxy({} as Group, {
    get(_, name) {
      let statement: ((...input: unknown[]) => unknown) | undefined;
      return (...input: unknown[]) => {
        group ??= prepare(...made);
        statement ??= Reflect.get(group, name) as typeof statement;
        return statement?.(...input);
      };
    },
  });
}
