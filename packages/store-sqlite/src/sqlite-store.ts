import { DomainError } from '@latchkey/domain/domain-error';
import { operations } from '@latchkey/store/operations/operations';
import { reduction } from '@latchkey/store/operations/reduction';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { claimDatabase } from '@latchkey/store/use-mark';
import { sqliteAdapter } from './adapter.ts';
import { prepareCounts } from './counts.ts';
import { inMemory, sizesOf, watchDatabaseFile } from './database-file.ts';
import { prepareDeliveries } from './deliveries.ts';
import { prepareEndpoints, prepareHasEndpoints } from './endpoints.ts';
import { prepareEraseMessages } from './erase-messages.ts';
import { emptyLog, retryWhileLocked } from './errors.ts';
import { GroupCommit } from './group-commit.ts';
import { GroupRead } from './group-read.ts';
import { nameOf, reductionIndexes, type SqliteStep } from './migrations.ts';
import { IN_MEMORY, openDatabase } from './open-database.ts';
import { prepareOutbox, recordEvents } from './outbox.ts';
import { prepareRateLimits } from './rate-limits.ts';
import { noReserve, reserveBeside } from './reserve.ts';
import { prepareSweeps } from './sweep.ts';
import { prepareTrials } from './trials.ts';
import { prepareUseMarks } from './use-mark.ts';
import { closeDatabase, prepareVouch } from './wal-mark.ts';

const SWEEP_EVERY_MS = 60_000;
const RESERVE_EVERY_MS = 2_000;

export interface SqliteStoreOptions extends StoreOptions {
  path: string;
  migrations?: readonly SqliteStep[];
}

export interface SqliteStore extends Store {
  sweep(): Promise<void>;
}

/** Several processes on one machine may open the same file. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, clock, onError, onLost = () => {}, revokedGrantDays: days = null } = options;
  const database = await openDatabase(path, options);
  const sweeps = once(() => prepareSweeps(database));
  const file = path === IN_MEMORY ? inMemory : watchDatabaseFile(path, onLost);
  const endpoints = atFirstUse(prepareEndpoints, database);
  const deliveries = atFirstUse(prepareDeliveries, database, endpoints);
  const outbox = atFirstUse(prepareOutbox, database);
  const messages = atFirstUse(prepareEraseMessages, database);
  const trials = atFirstUse(prepareTrials, database);
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

  function write<Input extends unknown[], T>(
    statements: (...input: Input) => T,
    grantOf?: (...input: Input) => string,
    options: { ends?: boolean } = {},
  ) {
    return async (...input: Input): Promise<T> => {
      refuseIfEnded();
      const members = grantOf && { grant_id: grantOf(...input) };
      return commits.run(statements, { ...options, members }, ...input);
    };
  }

  /** A write that ends something. It goes on for longest when the disk is full. */
  const end = <Input extends unknown[], T>(
    statements: (...input: Input) => T,
    grantOf?: (...input: Input) => string,
  ) => write(statements, grantOf, { ends: true });

  /** What was recorded before is told first, as it would have been before the change. */
  function afterTelling<Input extends unknown[], T>(
    change: (...input: Input) => T,
    options?: { ends: boolean },
  ) {
    const attempt = (...input: Input) =>
      outbox.makeDeliveries(clock()) ? null : { result: change(...input) };
    const attemptOnce = write(attempt, undefined, options);
    return async (...input: Input): Promise<T> => {
      for (;;) {
        const done = await attemptOnce(...input);
        if (done !== null) return done.result;
      }
    };
  }

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
  // full. Not before: a migration, and the index of the sweeps, sort whole tables.
  database.exec('PRAGMA temp_store = MEMORY');
  // SQLite drops temporary triggers where it changes that.
  if (options.recordsEvents) recordEvents(database, clock);

  const changeEndpoint = afterTelling(endpoints.updateEndpoint, { ends: true });
  const deleteEndpoint = end(endpoints.deleteEndpoint);
  const endTries = write(deliveries.endTries);
  const dropSome = end(deliveries.dropUntold);

  /** In parts, so that requests run in between. */
  async function dropUntold(now = clock()): Promise<void> {
    while (await dropSome(now)) {
      // A full part is hardly ever the last one.
    }
  }

  /** Runs after a change was made. If it fails, the change stays made, and a sweep drops what is left. */
  const tryDropUntold = (now = clock()) => dropUntold(now).catch(() => undefined);

  async function sweep(): Promise<void> {
    try {
      await retryWhileLocked(vouch);
    } finally {
      // Where the disk is full, this makes room.
      for (const sweepBatch of [deliveries.dropUntold, ...sweeps()]) {
        const sweepOnce = write(() => sweepBatch(clock()));
        while (await sweepOnce()) {
          // Lets requests run between two batches.
        }
      }
      await reduce?.(clock());
    }
  }

  const vouchFor = path === IN_MEMORY ? null : prepareVouch(database, path);
  function vouch(): void {
    if (vouchFor === null) return;
    // Of a log that another file has replaced, nothing is known.
    file.verify();
    vouchFor(clock());
  }

  async function close(): Promise<void> {
    clearInterval(sweeping);
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

  const sweeping = setInterval(() => {
    sweep().catch((error) => {
      if (!closing) onError?.(error);
    });
  }, SWEEP_EVERY_MS).unref();

  const adapter = sqliteAdapter(database, {
    read: reads.run.bind(reads),
    async write(attempt, options, ...input) {
      refuseIfEnded();
      return commits.run(attempt, options, ...input);
    },
  });

  const declared = operations(adapter, clock, end(messages.eraseMessages));
  const reduce = days === null ? null : reduction(adapter, days);
  const tell = afterTelling(() => undefined, { ends: true });

  return {
    ...declared,

    // What is recorded has the address of its document.
    async forgetDeletion(application_id) {
      await tell();
      await declared.forgetDeletion(application_id);
    },

    async eraseAccount(erasure) {
      const revoked = await declared.eraseAccount(erasure);
      await emptyLog(database);
      return revoked;
    },

    measure: read(() => {
      const sizes = path === IN_MEMORY ? { database: 0, free: null } : sizesOf(path);
      return {
        database_bytes: sizes.database,
        free_bytes: sizes.free,
        backed_up_at: useMarks.find()?.backed_up_at ?? null,
      };
    }),

    removeTrial: write(trials.removeTrial),

    createEndpoint: afterTelling(endpoints.createEndpoint),
    listEndpoints: read(endpoints.listEndpoints),
    findEndpoint: read(endpoints.findEndpoint),
    async updateEndpoint(endpoint_id, changes) {
      // What was pending when it was disabled is not told any more.
      if (changes.disabled_reason === null) await dropUntold();
      const after = await changeEndpoint(endpoint_id, changes);
      if (after?.disabled_reason) await tryDropUntold();
      return after;
    },
    rotateEndpoint: end(endpoints.rotateEndpoint),
    async deleteEndpoint(endpoint_id, now) {
      const deleted = await deleteEndpoint(endpoint_id);
      if (deleted) await tryDropUntold(now);
      return deleted;
    },
    admitEventsKeys: (eventsKeys) => claimDatabase(claimed, { evenIfCopied: false, eventsKeys }),
    findEventsKeys: read(() => useMarks.find()?.events_keys),

    makeDeliveries: write(outbox.makeDeliveries),
    createPing: write(deliveries.createPing),
    listDueEndpoints: read(deliveries.listDueEndpoints),
    claimDeliveries: write(deliveries.claimDeliveries),
    async endTries(tries) {
      const disabled = await endTries(tries);
      if (disabled.length > 0) await tryDropUntold();
      return disabled;
    },
    releaseDeliveries: write(deliveries.releaseDeliveries),
    findDelivery: read(deliveries.findDelivery),
    listDeliveries: read(deliveries.listDeliveries),
    // That an application was disabled before drops nothing that begins anew.
    retryDelivery: afterTelling(deliveries.retryDelivery),
    replayDeliveries: afterTelling(deliveries.replayDeliveries),
    countEvents: read(deliveries.countEvents),

    addCounts: write(counts.addCounts),
    listCounts: read(counts.listCounts),
    findLiveCount: read(counts.findLiveCount),
    claimLiveCount: write(counts.claimLiveCount),
    countActiveGrants: read(counts.countActiveGrants),
    keepLiveCount: write(counts.keepLiveCount),

    addToCount: write(rateLimits.addToCount),

    sweep,
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
