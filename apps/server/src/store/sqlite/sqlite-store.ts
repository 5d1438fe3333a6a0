import type { Clock } from '../../clock.ts';
import { DomainError } from '../../domain-error.ts';
import type { Store } from '../store.ts';
import { prepareAccounts } from './accounts.ts';
import { prepareApplications } from './applications.ts';
import { untilUnlocked } from './busy.ts';
import { prepareCodes } from './codes.ts';
import { prepareGrants } from './grants.ts';
import { GroupCommit } from './group-commit.ts';
import { openDatabase } from './open-database.ts';
import { prepareRateLimits } from './rate-limits.ts';
import { prepareRefusals } from './refusals.ts';
import { toStoreError } from './sqlite-error.ts';

const SWEEP_EVERY_MS = 60_000;

export interface SqliteStoreOptions {
  /** A file, made with its directory where missing; or `:memory:`, which keeps nothing. */
  path: string;
  clock: Clock;
  /** Hears of housekeeping that failed; the next one makes up for it. */
  onError?: (error: unknown) => void;
}

/** A {@link Store} in a SQLite file. */
export interface SqliteStore extends Store {
  /**
   * Deletes the codes that expired without being exchanged, the refusals whose time is over, and
   * counts of the past. Happens by itself once a minute.
   */
  sweep(): Promise<void>;
}

/**
 * Opens the store. Several processes may have the same file open, on one machine.
 *
 * @throws DomainError `store_unavailable` where the file can't be opened; the cause says why
 * @throws Error where the file is of a newer Latchkey, or Node is older than 22.13
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, clock, onError } = options;
  const database = await openDatabase(path);
  const applications = prepareApplications(database);
  const accounts = prepareAccounts(database);
  const codes = prepareCodes(database);
  const grants = prepareGrants(database);
  const refusals = prepareRefusals(database);
  const rateLimits = prepareRateLimits(database);
  const touch = database.prepare('SELECT count(*) FROM sqlite_schema');
  const commits = new GroupCommit(database);
  let closing: Promise<void> | null = null;

  // Every read is a single statement, so it sees one moment, and all that was committed before it.
  async function read<T>(attempt: () => T): Promise<T> {
    refuseIfClosed();
    try {
      return await untilUnlocked(() => {
        refuseIfClosed();
        return attempt();
      });
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async function write<T>(attempt: () => T, about?: { grant_id: string }): Promise<T> {
    refuseIfClosed();
    return commits.run(attempt, about && { grant_id: about.grant_id });
  }

  function refuseIfClosed(): void {
    if (closing) throw new DomainError('store_unavailable', {}, new Error('The store is closed.'));
  }

  async function sweep(): Promise<void> {
    for (const sweepSome of [codes.sweepCodes, refusals.sweepRefusals, rateLimits.sweepCounts]) {
      while (await write(() => sweepSome(clock()))) {
        // Another part is due; requests had their turn in between.
      }
    }
  }

  async function close(): Promise<void> {
    clearInterval(sweeping);
    await commits.idle();
    try {
      // Brings the log into the file, as far as no other process reads from it still. Where that
      // fails nothing is lost: the log stays, and the next to open the file finds it.
      database.exec('PRAGMA wal_checkpoint');
    } catch (error) {
      onError?.(error);
    } finally {
      database.close();
    }
  }

  const sweeping = setInterval(() => {
    sweep().catch((error) => {
      if (!closing) onError?.(error);
    });
  }, SWEEP_EVERY_MS).unref();

  return {
    createApplication: (application) => write(() => applications.createApplication(application)),
    findApplication: (id) => read(() => applications.findApplication(id)),
    listApplications: (page) => read(() => applications.listApplications(page)),
    addSecret: (id, secret, limit) => write(() => applications.addSecret(id, secret, limit)),
    removeSecret: (id, secret_id) => write(() => applications.removeSecret(id, secret_id)),
    setApplicationDisabled: (id, disabled) =>
      write(() => applications.setApplicationDisabled(id, disabled)),
    noteSecretUse: (id, secret_id, at) =>
      write(() => applications.noteSecretUse(id, secret_id, at)),

    putAccount: (account) => write(() => accounts.putAccount(account)),
    findAccount: (id) => read(() => accounts.findAccount(id)),

    issueCode: (code) => write(() => codes.issueCode(code), code),
    cancelCode: (grant_id) => write(() => codes.cancelCode(grant_id), { grant_id }),
    redeemCode: (redemption) => write(() => codes.redeemCode(redemption), redemption),
    findCode: (id) => read(() => codes.findCode(id)),

    revokeGrant: (revocation) => write(() => grants.revokeGrant(revocation), revocation),
    recoverGrant: (recovery) => write(() => grants.recoverGrant(recovery), recovery),
    findGrant: (id) => read(() => grants.findGrant(id)),
    authenticateGrant: (id, options) => read(() => grants.authenticateGrant(id, options)),
    noteFirstUse: (use) => write(() => grants.noteFirstUse(use), use),
    listGrants: (filter, page) => read(() => grants.listGrants(filter, page)),
    findGrantHistory: (id) => read(() => grants.findGrantHistory(id)),

    keepRefusals: (records) => write(() => refusals.keepRefusals(records)),
    findRefusals: (filter, limit) => read(() => refusals.findRefusals(filter, limit)),

    addToCount: (addition) => write(() => rateLimits.addToCount(addition)),

    sweep,
    isLocal: true,
    ping: () => read(() => void touch.get()),
    close: () => (closing ??= close()),
  };
}
