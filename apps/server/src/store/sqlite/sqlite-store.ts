import { DomainError } from '../../domain-error.ts';
import type { Store, StoreOptions } from '../store.ts';
import { prepareAccounts } from './accounts.ts';
import { prepareApplications } from './applications.ts';
import { prepareCodes } from './codes.ts';
import { prepareCommandChanges } from './command-changes.ts';
import { inMemory, watchDatabaseFile } from './database-file.ts';
import { emptyLog, retryWhileLocked, toStoreError } from './errors.ts';
import { prepareGrants } from './grants.ts';
import { GroupCommit } from './group-commit.ts';
import { prepareLinks } from './links.ts';
import type { SqliteStep } from './migrations.ts';
import { IN_MEMORY, openDatabase } from './open-database.ts';
import { preparePages } from './pages.ts';
import { prepareRateLimits } from './rate-limits.ts';
import { prepareRefusals } from './refusals.ts';
import { prepareScopes } from './scopes.ts';
import { prepareSweeps } from './sweep.ts';

const SWEEP_EVERY_MS = 60_000;

export interface SqliteStoreOptions extends StoreOptions {
  /** `:memory:`, or a file, which is created with its directory if missing. */
  path: string;
  migrations?: readonly SqliteStep[];
}

export interface SqliteStore extends Store {
  /** Runs by itself once a minute. */
  sweep(): Promise<void>;
}

/**
 * Several processes on one machine may open the same file.
 *
 * @throws DomainError `store_unavailable` if the file can't be opened; the cause says why
 * @throws SchemaMismatch if the schema is a newer one, or an earlier one that may not be migrated
 * @throws CopiedDatabase if `claim` is given, and it was copied, or is a copy that is not complete
 * @throws Error if Node is older than 22.13
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, clock, onError, onReplaced = () => {} } = options;
  const database = await openDatabase(path, options);
  const file = path === IN_MEMORY ? inMemory : watchDatabaseFile(path, onReplaced);
  const applications = prepareApplications(database);
  const accounts = prepareAccounts(database, clock);
  const scopes = prepareScopes(database);
  const pages = preparePages(database);
  const links = prepareLinks(database, pages);
  const codes = prepareCodes(database);
  const grants = prepareGrants(database);
  const refusals = prepareRefusals(database);
  const commandChanges = prepareCommandChanges(database);
  const rateLimits = prepareRateLimits(database);
  const sweeps = await retryWhileLocked(() => prepareSweeps(database, options.revokedGrantDays));
  const ping = database.prepare('SELECT count(*) FROM sqlite_schema');
  const commits = new GroupCommit(database, file);
  let closing: Promise<void> | null = null;

  // Every read is one statement, so it sees one moment and all commits before it.
  async function read<T>(attempt: () => T): Promise<T> {
    refuseIfClosed();
    try {
      const result = await retryWhileLocked(() => {
        refuseIfClosed();
        return attempt();
      });
      await file.verifyOncePerTick();
      return result;
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
    for (const sweepBatch of sweeps) {
      while (await write(() => sweepBatch(clock()))) {
        // Lets requests run between two batches.
      }
    }
  }

  async function close(): Promise<void> {
    clearInterval(sweeping);
    await commits.idle();
    try {
      // If the checkpoint fails, nothing is lost: the log stays.
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
    listApplications: (range) => read(() => applications.listApplications(range)),
    addSecret: (id, secret, limit) => write(() => applications.addSecret(id, secret, limit)),
    removeSecret: (id, secret_id) => write(() => applications.removeSecret(id, secret_id)),
    updateApplication: (id, changes) => write(() => applications.updateApplication(id, changes)),
    setApplicationDisabled: (id, disabled) =>
      write(() => applications.setApplicationDisabled(id, disabled)),
    noteSecretUse: (id, secret_id, at) =>
      write(() => applications.noteSecretUse(id, secret_id, at)),

    deleteApplication: (deletion) => write(() => applications.deleteApplication(deletion)),
    listDeletions: () => read(applications.listDeletions),
    endGrants: (deletion, range) => write(() => applications.endGrants(deletion, range)),
    forgetDeletion: (id) => write(() => applications.forgetDeletion(id)),

    putAccount: (account) => write(() => accounts.putAccount(account)),
    findAccount: (id) => read(() => accounts.findAccount(id)),
    listAccounts: (filter, range) => read(() => accounts.listAccounts(filter, range)),
    async eraseAccount(erasure) {
      const revoked = await write(() => accounts.eraseAccount(erasure));
      await emptyLog(database);
      return revoked;
    },

    putScope: (scope, limit) => write(() => scopes.putScope(scope, limit)),
    listScopes: () => read(scopes.listScopes),
    listScopeNames: () => read(scopes.listScopeNames),
    deleteScope: (scope) => write(() => scopes.deleteScope(scope)),

    createLink: (link) => write(() => links.createLink(link)),
    findLink: (id) => read(() => links.findLink(id)),
    identifyLink: (identification) => write(() => links.identifyLink(identification)),
    switchLink: (change) => write(() => links.switchLink(change)),
    decideLink: (decision) => write(() => links.decideLink(decision)),

    createPage: (page) => write(() => pages.createPage(page)),
    findPage: (id) => read(() => pages.findPage(id)),
    openPage: (opening) => write(() => pages.openPage(opening)),

    issueCode: (code) => write(() => codes.issueCode(code), code),
    cancelCode: (grant_id) => write(() => codes.cancelCode(grant_id), { grant_id }),
    redeemCode: (redemption) => write(() => codes.redeemCode(redemption), redemption),
    listCodes: (account_id) => read(() => codes.listCodes(account_id)),
    findCode: (id) => read(() => codes.findCode(id)),
    countPendingCodes: (options) => read(() => codes.countPendingCodes(options)),

    revokeGrant: (revocation) => write(() => grants.revokeGrant(revocation), revocation),
    recoverGrant: (recovery) => write(() => grants.recoverGrant(recovery), recovery),
    authenticateGrant: (id, options) => read(() => grants.authenticateGrant(id, options)),
    noteFirstUse: (use) => write(() => grants.noteFirstUse(use), use),
    listGrants: (filter, range) => read(() => grants.listGrants(filter, range)),
    listActiveGrants: (filter, range) => read(() => grants.listActiveGrants(filter, range)),
    findGrantHistory: (id) => read(() => grants.findGrantHistory(id)),

    keepRefusals: (records) => write(() => refusals.keepRefusals(records)),
    findRefusals: (filter, limit) => read(() => refusals.findRefusals(filter, limit)),

    keepCommandChanges: (changes) => write(() => commandChanges.keepCommandChanges(changes)),
    listCommandChanges: (limit) => read(() => commandChanges.listCommandChanges(limit)),
    forgetCommandChanges: (ids) => write(() => commandChanges.forgetCommandChanges(ids)),

    addToCount: (addition) => write(() => rateLimits.addToCount(addition)),

    sweep,
    kind: 'sqlite',
    ping: () => read(() => void ping.get()),
    close: () => (closing ??= close()),
  };
}
