import type { Clock, Milliseconds } from '../clock.ts';
import type { Initiator } from '../initiator.ts';
import type {
  AccountRecord,
  ApplicationChanges,
  ApplicationRecord,
  CodeState,
  CommandChange,
  CredentialHash,
  DeletionRecord,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  LinkDecision,
  LinkRecord,
  ListedAccount,
  PageRecord,
  PendingRecord,
  RefusalRecord,
  RevokedRecord,
  ScopeRecord,
  SecretRecord,
  WindowCount,
} from './records.ts';
import type { Claim } from './use-mark.ts';

/** What every adapter is opened with. */
export interface StoreOptions {
  clock: Clock;
  /** Called with errors outside of any call, such as those of housekeeping, which is retried. */
  onError?: (error: unknown) => void;
  /** Called with what an operator should look at; the store goes on. */
  onWarning?: (message: string) => void;
  /** Called once if the database is no longer the one that was opened: only a restart helps. */
  onReplaced?: (error: Error) => void;
  /**
   * After how many days housekeeping takes everything off a revoked grant but its id, its application
   * and the times of its conversion and its revocation. Default: never.
   */
  revokedGrantDays?: number | null;
  /** Whether to create a database where there is none. Default: true. */
  create?: boolean;
  /**
   * Whether to bring the schema of an earlier program to that of this one, with steps that programs of
   * the version before can live with. If not, an earlier schema is an error. Default: true.
   */
  migrate?: boolean;
  /** For whoever may change records. Default: nothing is changed but by housekeeping. */
  claim?: Claim | undefined;
}

/** Enough to see what was rotated in the last months. */
export const EXPIRED_SECRETS_KEPT = 20;

/** The ids of the expired secrets to delete. The secrets are in the order in which they were added. */
export function outdatedSecrets(secrets: readonly SecretRecord[], now: Milliseconds): string[] {
  const expired = secrets.filter(({ expires_at }) => expires_at !== null && expires_at <= now);
  return expired.slice(0, -EXPIRED_SECRETS_KEPT).map(({ id }) => id);
}

/**
 * How long link requests and pages stay after they expire, so that whoever comes late hears that they
 * expired, and finds the way back.
 */
export const LINKS_KEPT: Milliseconds = 10_800_000;

/** A page of a list that is ordered by id, newest first. */
export interface Page {
  /** The maximum number of records. */
  limit: number;
  /** Only records older than this id; null to start with the newest. */
  before: string | null;
}

/** The connections of one process to a database on the network. */
export interface ConnectionPool {
  inUse: number;
  idle: number;
  /** Calls that wait for a connection. */
  waiting: number;
  /** How many connections there may be to one server; 0 for no limit. */
  limit: number;
}

/** A change to a grant. */
export interface Change {
  /** Stored by the same write as the change, so that the history can't contradict the grant. */
  initiator: Initiator;
}

/** A code to be issued. The store adds the account as it is at that moment. */
export interface NewCode extends Omit<PendingRecord, 'account'>, Change {
  account_id: string;
}

/** An erasure of an account. */
export interface Erasure extends Change {
  account_id: string;
  now: Milliseconds;
}

/** A redemption. All of it is one write. */
export interface Redemption extends Change {
  grant_id: string;
  application_id: string;
  code_hash: CredentialHash;
  /** The hash of the secret that the application gets. */
  secret_hash: CredentialHash;
  /** Has to be the code's redirect URI, if both are there. */
  redirect_uri: string | null;
  /** The challenge of the verifier that was sent; null without one. Has to be the code's. */
  code_challenge: string | null;
  now: Milliseconds;
}

/** A revocation. */
export interface Revocation extends Change {
  grant_id: string;
  /** The application that has to own the grant; null for any. */
  application_id: string | null;
  /** Whether a grant that was revoked before counts as none. Default: false. */
  onlyActive?: boolean;
  now: Milliseconds;
}

/** A recovery. All of it is one write. */
export interface Recovery extends Change {
  grant_id: string;
  application_id: string;
  /** The hash of the new grant secret. */
  secret_hash: CredentialHash;
  /** The redemption has to be later than this. */
  redeemed_after: Milliseconds;
  now: Milliseconds;
}

/** The host names the account that it has signed in. */
export interface Identification extends Change {
  link_id: string;
  /** The hash of the link that the host got. */
  link_hash: CredentialHash;
  /** The consent page to keep. Its account is the identified one. */
  page: PageRecord;
  now: Milliseconds;
}

/** The user of a consent page asks for another account. */
export interface LinkSwitch extends Change {
  link_id: string;
  page_id: string;
  /** The hash of the new link. */
  link_hash: CredentialHash;
  now: Milliseconds;
}

/** The opening of a page with its ticket. */
export interface PageOpening extends Change {
  page_id: string;
  ticket_hash: CredentialHash;
  /** The hash of the session that the browser gets. */
  session_hash: CredentialHash;
  /** Until when the session is good. */
  expires_at: Milliseconds;
  now: Milliseconds;
}

/** What identifies who decides about a link request: the latest link, or the latest page. */
export type LinkHolder = { link_hash: CredentialHash } | { page_id: string };

/** A decision about a link request. */
export interface NewDecision extends Change {
  link_id: string;
  holder: LinkHolder;
  /** The account that is approved; null for a denial, which leaves it as it is. */
  account_id: string | null;
  decision: LinkDecision;
  now: Milliseconds;
}

/** Which active grants to list. */
export interface ActiveGrants {
  account_id: string;
  /** Default: of every application. */
  application_id?: string;
}

export interface ReadOptions {
  /**
   * Reads as cheaply as the database can. During a failover, the result may lack what was just
   * acknowledged, so it decides nothing.
   */
  mayBeStale?: boolean;
}

/**
 * What the rules need from a database. Each method is atomic and documents its promise; `test/store`
 * tests every adapter for all of them.
 *
 * - Ids and hashes are well formed. Ids are lower-case UUIDs. The id of a new record is new: a taken
 *   one is a bug of the caller, and throws an ordinary error.
 * - An acknowledged write is on disk, on a replica set on the disks of a majority: no crash and no
 *   failover undoes it. A read sees every write that was acknowledged before it began, in any
 *   process.
 * - Any method throws a DomainError `store_unavailable` if the database does not respond; then
 *   nothing was changed. A write whose outcome can't be found out throws `outcome_unknown`. It may
 *   still be made later, but never undoes a write that was acknowledged meanwhile.
 */
export interface Store {
  // Applications

  createApplication(application: ApplicationRecord): Promise<void>;

  findApplication(application_id: string, options?: ReadOptions): Promise<ApplicationRecord | null>;

  listApplications(page: Page): Promise<ApplicationRecord[]>;

  /**
   * Adds a secret unless the application has `most` secrets that are live at `now`: those without
   * an expiry or with a later one. Concurrent calls never exceed the limit together. Of the expired
   * ones, it keeps the {@link EXPIRED_SECRETS_KEPT} that were added last, since every request reads
   * the application with all its secrets.
   */
  addSecret(
    application_id: string,
    secret: SecretRecord,
    limit: { most: number; now: Milliseconds },
  ): Promise<'added' | 'application_not_found' | 'secret_limit_reached'>;

  /** Removes a secret for good, and returns the application without it. */
  removeSecret(
    application_id: string,
    secret_id: string,
  ): Promise<ApplicationRecord | 'application_not_found' | 'secret_not_found'>;

  /** Returns the changed application, or null if there is none. Idempotent. */
  updateApplication(
    application_id: string,
    changes: ApplicationChanges,
  ): Promise<ApplicationRecord | null>;

  /** Returns the changed application, or null if there is none. Idempotent. */
  setApplicationDisabled(
    application_id: string,
    disabled: boolean,
  ): Promise<ApplicationRecord | null>;

  /**
   * Deletes a disabled application with its secrets, and returns it as it was. Once this has
   * returned, the application is unknown to every process. The deletion is remembered until
   * {@link Store.forgetDeletion}, since its grants and codes are still there.
   */
  deleteApplication(
    deletion: DeletionRecord,
  ): Promise<ApplicationRecord | 'application_not_found' | 'application_enabled'>;

  /** The deletions that are still remembered. */
  listDeletions(): Promise<DeletionRecord[]>;

  /**
   * Revokes a page of the grants of a deleted application, as of its deletion. The first page deletes
   * all of its pending codes too. Idempotent.
   *
   * @returns the id before which the next page begins; null at the end
   */
  endGrants(deletion: DeletionRecord, page: Page): Promise<string | null>;

  /** Forgets a deletion. The application stays unknown. */
  forgetDeletion(application_id: string): Promise<void>;

  /**
   * Notes when a secret was used. Never moves the time back, and ignores a removed secret. A crash
   * may lose it: the next use makes up for it.
   */
  noteSecretUse(application_id: string, secret_id: string, at: Milliseconds): Promise<void>;

  // Accounts

  /** Inserts the account, or replaces it as a whole. */
  putAccount(account: AccountRecord): Promise<void>;

  findAccount(account_id: string): Promise<AccountRecord | null>;

  /** The accounts in the order in which they were first put, or those with a username. */
  listAccounts(filter: { username?: string | undefined }, page: Page): Promise<ListedAccount[]>;

  /**
   * Removes the account, deletes its pending codes, its pages and the link requests that name it or
   * that one of these pages or codes is about, revokes its grants, and replaces the names in their
   * snapshots by {@link ERASED}. Once this has returned, nothing in the database has them, and no call
   * that began before brings them back. An account that is put afterwards is a new one, with none of
   * the old grants active. If it throws `outcome_unknown`, a part may be done: a repetition does the
   * rest. Idempotent.
   *
   * @returns how many grants this call revoked
   */
  eraseAccount(erasure: Erasure): Promise<number>;

  // Scopes

  /**
   * Inserts the description of a scope, or replaces it as a whole. A new one is refused if there are
   * `most`; concurrent calls may exceed that by their number.
   */
  putScope(scope: ScopeRecord, limit: { most: number }): Promise<'put' | 'scope_limit_reached'>;

  /** All of them, by name. */
  listScopes(): Promise<ScopeRecord[]>;

  /**
   * The names of all of them, in order. Their texts may be a few megabytes, which a request that needs
   * the names alone does not read.
   */
  listScopeNames(): Promise<string[]>;

  /** Deletes the description of a scope, and returns it as it was; null if there is none. */
  deleteScope(scope: string): Promise<ScopeRecord | null>;

  // Link requests and pages. Each is deleted {@link LINKS_KEPT} after it expires.

  /** Keeps a new link request, open. After `outcome_unknown` it may be there, and harms nobody. */
  createLink(link: LinkRecord & Change): Promise<void>;

  findLink(link_id: string): Promise<LinkRecord | null>;

  /**
   * Keeps the page, then makes it the latest of its link request and its account the identified one,
   * if there is such an account, the link is the latest, it is undecided, and `now` is before the
   * expiry.
   *
   * @returns the link request; null if nothing was changed, and the page is not kept
   */
  identifyLink(identification: Identification): Promise<LinkRecord | null>;

  /**
   * Replaces the link, if the page is the latest of its link request, which is undecided, and `now` is
   * before the expiry. The former link is dead. The page stays the latest until the host identifies
   * somebody: a second click replaces the link once more, and whoever goes back can still decide.
   */
  switchLink(change: LinkSwitch): Promise<LinkRecord | null>;

  /**
   * Decides about a link request, if the holder's link or page is the latest, it is undecided, and
   * `now` is before the expiry. Of concurrent decisions exactly one is made; the others receive null.
   */
  decideLink(decision: NewDecision): Promise<LinkRecord | null>;

  /** Keeps a page that is about no link request. Null if there is no such account. */
  createPage(page: PageRecord & Change): Promise<PageRecord | null>;

  findPage(page_id: string): Promise<PageRecord | null>;

  /**
   * Opens a page with its ticket, once: notes the hash of the session, and until when that is good.
   * Null if the ticket is another one, was used, or has expired at `now`.
   */
  openPage(opening: PageOpening): Promise<PageRecord | null>;

  // Codes

  /**
   * Issues a code with a snapshot of the account as it is now. Null if there is no such account, or it
   * was erased meanwhile; then no copy of it is left.
   */
  issueCode(code: NewCode): Promise<PendingRecord | null>;

  /** The pending codes of an account, newest first, with those that expired and are still stored. */
  listCodes(account_id: string): Promise<PendingRecord[]>;

  /** Deletes a pending code, expired or not; null if there is none. */
  cancelCode(grant_id: string): Promise<PendingRecord | null>;

  /**
   * Turns a pending code into an active grant, created at `now`, if the application and the hash
   * are those of the code, `now` is before its expiry, the challenge is the code's or both have none,
   * and the redirect URI is the code's. It may be left out if the code has a challenge, or its
   * authorization request left it out; that of a code without one is ignored. Otherwise null, and
   * nothing is changed.
   * Under concurrent calls exactly one caller receives the grant; the others receive null.
   */
  redeemCode(redemption: Redemption): Promise<GrantRecord | null>;

  /**
   * The state of a code, also after its redemption; null if there is no record of it, or only what
   * {@link StoreOptions.revokedGrantDays} leaves.
   */
  findCode(grant_id: string): Promise<CodeState | null>;

  /**
   * Counts the pending codes that expire after `now`, up to `limit`: the time it takes is bounded,
   * too. For monitoring; may miss the latest changes.
   */
  countPendingCodes(options: { now: Milliseconds; limit: number }): Promise<number>;

  // Grants

  /**
   * Revokes a grant and deletes the hash of its secret. Idempotent: returns what it returned at first,
   * for ever. Null if there is no such grant, its code was not redeemed, or it belongs to another
   * application. Once this has returned, no process sees the grant as active.
   *
   * Of concurrent calls with `onlyActive` exactly one receives the grant; the others receive null.
   */
  revokeGrant(revocation: Revocation): Promise<RevokedRecord | null>;

  /**
   * Replaces the secret of an active grant that was never used and was redeemed after
   * `redeemed_after`. Otherwise null, and nothing is changed. Of this and a concurrent
   * {@link Store.noteFirstUse} with the old secret exactly one succeeds.
   */
  recoverGrant(recovery: Recovery): Promise<GrantRecord | null>;

  /**
   * What a request with a grant's secret needs, in one round trip; null if there is no such grant or
   * its code was not redeemed.
   *
   * @param options.currentAccount - whether to return the account as it is now instead of as it was
   *   at issue
   */
  authenticateGrant(
    grant_id: string,
    options: { currentAccount: boolean } & ReadOptions,
  ): Promise<GrantAuthentication | null>;

  /**
   * Notes the first use of a grant's secret, unless it is noted already.
   *
   * @returns whether the grant is active with this secret, and its first use is on disk
   */
  noteFirstUse(
    use: Change & {
      grant_id: string;
      secret_hash: CredentialHash;
      now: Milliseconds;
    },
  ): Promise<boolean>;

  /**
   * The grants of an account or an application, with revoked ones and without pending codes. Without
   * those that {@link StoreOptions.revokedGrantDays} has taken the details off.
   */
  listGrants(
    filter: { account_id: string } | { application_id: string },
    page: Page,
  ): Promise<GrantRecord[]>;

  /** The active grants of an account, with one application or with all, newest first. */
  listActiveGrants(filter: ActiveGrants, page: Page): Promise<GrantRecord[]>;

  /**
   * The history of a grant, from the issue of its code on; null if there is no record of it. It has
   * every change that was acknowledged.
   */
  findGrantHistory(grant_id: string): Promise<GrantHistory | null>;

  // Refusals

  /**
   * Keeps refusals until a few minutes after they expire. Idempotent. A crash may lose them, since
   * no promise depends on them.
   */
  keepRefusals(refusals: readonly RefusalRecord[]): Promise<void>;

  /** The refusals with a request id or about a grant, newest first, at most `limit`. */
  findRefusals(
    filter: { request_id: string } | { grant_id: string },
    limit: number,
  ): Promise<RefusalRecord[]>;

  // Changes on the command line

  /** Keeps changes until they are forgotten. Idempotent. */
  keepCommandChanges(changes: readonly CommandChange[]): Promise<void>;

  /** The oldest ones that are kept, at most `limit`. */
  listCommandChanges(limit: number): Promise<CommandChange[]>;

  forgetCommandChanges(ids: readonly string[]): Promise<void>;

  // Rate limits

  /**
   * Adds to the count of a key. If there is none, or its window has ended at `now`, a window of
   * `duration` begins; one that would end later than that is shortened to it, since the clock of
   * another process may have been ahead. Each call of any process is counted once; one that throws may have been
   * counted. A failover may lose a count. It is deleted some time after its window.
   *
   * @param addition.points - negative to undo an addition
   * @returns the count with this addition
   */
  addToCount(addition: {
    key: string;
    points: number;
    now: Milliseconds;
    duration: Milliseconds;
  }): Promise<WindowCount>;

  // The store itself

  /** Which adapter this is: SQLite works within the process, MongoDB is a round trip away. */
  readonly kind: 'sqlite' | 'mongodb';

  /** The connections as they are now; undefined if the database works within the process. */
  connectionPool?(): ConnectionPool;

  /** Resolves if the database responds; throws `store_unavailable` otherwise. */
  ping(): Promise<void>;

  /**
   * Waits for the running calls, then closes the database. Later calls throw `store_unavailable`.
   * Idempotent.
   */
  close(): Promise<void>;
}
