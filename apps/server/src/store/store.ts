import type { Milliseconds } from '../clock.ts';
import type { Origin } from '../origin.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeState,
  CredentialHash,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  PendingRecord,
  RefusalRecord,
  SecretRecord,
  WindowCount,
} from './records.ts';

/** A page of a list that is ordered by id, newest first. */
export interface Page {
  /** How many records at most. */
  limit: number;
  /** Only records older than this id; null from the newest on. */
  before: string | null;
}

/** A change to a grant. */
export interface Change {
  /**
   * Where it comes from: kept by the very write that makes the change, so that the history can't
   * contradict the grant. Left out, the history tells the change without it.
   */
  origin?: Origin;
}

/** Everything of a redemption; all conditions are part of the one write. */
export interface Redemption extends Change {
  grant_id: string;
  application_id: string;
  code_hash: CredentialHash;
  /** The hash of the grant secret that the application will get. */
  secret_hash: CredentialHash;
  now: Milliseconds;
}

/** Everything of a recovery; all conditions are part of the one write. */
export interface Recovery extends Change {
  grant_id: string;
  application_id: string;
  /** The hash of the new grant secret. */
  secret_hash: CredentialHash;
  /** The exchange has to be later than this. */
  exchanged_after: Milliseconds;
  now: Milliseconds;
}

/**
 * What the rules need of a database. Each method is atomic and names its promise; `store.suite.ts`
 * holds every adapter to all of them.
 *
 * - Ids and hashes come in well formed; ids are lower-case UUIDs, and those of new records are new:
 *   a taken one is a fault of the caller's, and thrown as such.
 * - A write that was acknowledged is on disk, and on a replica set on a majority of it: no crash
 *   and no failover takes it back. A read sees every write that was acknowledged before it began,
 *   in any process.
 * - Any method throws a DomainError `store_unavailable` where the database does not answer; then
 *   nothing was changed. A write whose outcome can't be read back throws `outcome_unknown`; it may
 *   be made later still, but never undoes another that was acknowledged meanwhile.
 */
export interface Store {
  // Applications

  createApplication(application: ApplicationRecord): Promise<void>;

  findApplication(application_id: string): Promise<ApplicationRecord | null>;

  listApplications(page: Page): Promise<ApplicationRecord[]>;

  /**
   * Adds a secret unless the application has `most` secrets that are live at `now` (those without
   * an expiry or with a later one). Of concurrent calls only as many succeed as there is room for.
   */
  addSecret(
    application_id: string,
    secret: SecretRecord,
    limit: { most: number; now: Milliseconds },
  ): Promise<'added' | 'application_not_found' | 'secret_limit_reached'>;

  /** Removes a secret, for good, and returns the application without it. */
  removeSecret(
    application_id: string,
    secret_id: string,
  ): Promise<ApplicationRecord | 'application_not_found' | 'secret_not_found'>;

  /** Returns the application as it is then, or null where there is none. Idempotent. */
  setApplicationDisabled(
    application_id: string,
    disabled: boolean,
  ): Promise<ApplicationRecord | null>;

  /**
   * Notes when a secret was used. Never moves the time back; does nothing for a removed secret.
   * Need not outlive a crash: the next use makes up for it.
   */
  noteSecretUse(application_id: string, secret_id: string, at: Milliseconds): Promise<void>;

  // Accounts

  /** Inserts or replaces the whole account. */
  putAccount(account: AccountRecord): Promise<void>;

  findAccount(account_id: string): Promise<AccountRecord | null>;

  // Codes

  issueCode(code: PendingRecord & Change): Promise<void>;

  /** Deletes a code that nobody has exchanged, expired or not; null where there is none. */
  cancelCode(grant_id: string): Promise<PendingRecord | null>;

  /**
   * Turns a pending code into an active grant, created at `now`, if the application and the hash
   * are the code's own and `now` is before its expiry; null otherwise, and then nothing is changed.
   * Under concurrent calls exactly one caller receives the grant; the others receive null.
   */
  redeemCode(redemption: Redemption): Promise<GrantRecord | null>;

  /** What became of a code; null where there is no record of it. */
  findCode(grant_id: string): Promise<CodeState | null>;

  // Grants

  /**
   * Revokes a grant and forgets its secret; returns it as it was first revoked, however often it is
   * called. Null where there is no such grant, its code was not exchanged, or it belongs to another
   * application than the one given. When this has returned, no read of any process takes the grant
   * for active.
   *
   * @param revocation.application_id - null for any application
   */
  revokeGrant(
    revocation: Change & {
      grant_id: string;
      application_id: string | null;
      now: Milliseconds;
    },
  ): Promise<GrantRecord | null>;

  /**
   * Replaces the secret of an active grant that was never used and whose exchange is recent enough.
   * Null otherwise, and then nothing is changed. Against a concurrent {@link Store.noteFirstUse}
   * with the old secret, one of the two wins.
   */
  recoverGrant(recovery: Recovery): Promise<GrantRecord | null>;

  /** A grant, exchanged and perhaps revoked; null where there is none. */
  findGrant(grant_id: string): Promise<GrantRecord | null>;

  /**
   * What a request with a grant's secret needs, in one round trip; null where there is no such
   * grant or its code was not exchanged. An application that is gone counts as disabled.
   *
   * @param options.currentAccount - whether the account is wanted as it is now, and not as it was when
   *   the code was issued
   */
  authenticateGrant(
    grant_id: string,
    options: { currentAccount: boolean },
  ): Promise<GrantAuthentication | null>;

  /**
   * Notes the first use of a grant's secret, unless one is noted already.
   *
   * @returns whether the grant is active with this secret, its first use on disk
   */
  noteFirstUse(
    use: Change & {
      grant_id: string;
      secret_hash: CredentialHash;
      now: Milliseconds;
    },
  ): Promise<boolean>;

  /** The grants of an account or of an application, revoked ones too, pending codes not. */
  listGrants(
    filter: { account_id: string } | { application_id: string },
    page: Page,
  ): Promise<GrantRecord[]>;

  /**
   * What became of a grant so far, its code not exchanged included; null where there is no record.
   * It tells each change from the moment that the change is acknowledged.
   */
  findGrantHistory(grant_id: string): Promise<GrantHistory | null>;

  // Refusals

  /**
   * Keeps refusals, each until it expires, give or take a few minutes. May be called again with the
   * same ones: each is kept once. Need not outlive a crash: they serve to explain, no promise rests
   * on them.
   */
  keepRefusals(refusals: readonly RefusalRecord[]): Promise<void>;

  /** The refusals of a request, or those that named a grant, newest first, `limit` at most. */
  findRefusals(
    filter: { request_id: string } | { grant_id: string },
    limit: number,
  ): Promise<RefusalRecord[]>;
  // Rate limits

  /**
   * Adds to the count of a key. Where there is none, or its window has ended at `now`, one begins
   * that is `duration` long. Of concurrent calls, in any process, each is counted once; one that
   * throws may have been counted all the same. A count need not outlive a failover, and is deleted
   * some time after its window.
   *
   * @param addition.points - may be negative, to take back what was added
   * @returns the count with this addition
   */
  addToCount(addition: {
    key: string;
    points: number;
    now: Milliseconds;
    duration: Milliseconds;
  }): Promise<WindowCount>;

  // The store itself

  /**
   * Whether it answers within the process, as a file does and no server. It decides on the moment at
   * which requests that came in together are worked on.
   */
  readonly isLocal: boolean;

  /** Resolves when the database answers; throws `store_unavailable` otherwise. */
  ping(): Promise<void>;

  /**
   * Lets what runs finish, then lets go of the database. Whatever is called afterwards throws
   * `store_unavailable`. May be called again.
   */
  close(): Promise<void>;
}
