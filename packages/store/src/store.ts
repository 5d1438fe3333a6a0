import type { Claimed } from '@latchkey/domain/claimed';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { isLive } from '@latchkey/domain/credentials/credentials';
import type { Initiator } from '@latchkey/domain/initiator';
import { USE_NOTED_AFTER } from '@latchkey/domain/lifetimes';
import type { Work, WorkStep } from './endings.ts';
import type { KeyFingerprints } from './events-keys.ts';
import type {
  AccountRecord,
  ApplicationAuthentication,
  ApplicationChanges,
  ApplicationRecord,
  AttemptRecord,
  CodeState,
  CommandChange,
  ConnectedApplication,
  ConnectedGrant,
  ConnectionRecord,
  CredentialHash,
  CurrentAccount,
  DeletionRecord,
  DeliveryRecord,
  DocumentedClient,
  EndpointRecord,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  HourCounts,
  KeptDocument,
  KeyRecord,
  LinkDecision,
  LinkRecord,
  ListedAccount,
  ListedHistory,
  LiveCount,
  PageRecord,
  PendingRecord,
  RefusalRecord,
  ResourceChanges,
  ResourceRecord,
  RevokedRecord,
  ScopeRecord,
  SecretRecord,
  StoredReason,
  TriedEndpoint,
  WindowCount,
} from './records.ts';
import type { Claim, CopiedDatabase } from './use-mark.ts';

export interface StoreOptions {
  clock: Clock;
  /** Called with errors outside of any call, such as those of housekeeping, which is retried. */
  onError?: (error: unknown) => void;
  /** Called with a message for the operator; the store goes on. */
  onWarning?: (message: string) => void;
  /** Called once if the opened database is damaged, or another one is in its place: only a restart helps. */
  onLost?: (error: Error) => void;
  /**
   * Called within 10 s once a last copy has begun, perhaps several times. On SQLite there is none while
   * the database is open.
   */
  onCopied?: ((error: CopiedDatabase) => void) | undefined;
  /** Days after which a revoked grant is reduced to a {@link RevokedRecord}. Default: never. */
  revokedGrantDays?: number | null;
  /**
   * Whether to keep room on the disk for what ends something. Only SQLite can. Default: false, and what
   * another process keeps is used all the same.
   */
  keepsReserve?: boolean;
  /** Whether to create a missing database, and elsewhere than on SQLite missing indexes. Default: true. */
  create?: boolean;
  /** Whether changes are recorded as events: see EVENTS_KEY. Default: false. */
  recordsEvents?: boolean;
  /** For whoever may change records. Default: nothing is changed but by housekeeping. */
  claim?: Claim | undefined;
}

/** Enough to see what was rotated in the last months. */
export const EXPIRED_SECRETS_KEPT = 20;

/**
 * The expired ones that are not shown any more: all but those that expired last.
 *
 * @param secrets - in the order in which they were added
 */
export function outdatedSecrets(
  secrets: readonly Pick<SecretRecord, 'id' | 'expires_at'>[],
  now: Milliseconds,
): string[] {
  const expired = secrets.filter((secret) => !isLive(secret, now));
  if (expired.length <= EXPIRED_SECRETS_KEPT) return [];
  const byExpiry = expired.toSorted(
    (one, other) => (one.expires_at ?? 0) - (other.expires_at ?? 0),
  );
  return byExpiry.slice(0, -EXPIRED_SECRETS_KEPT).map(({ id }) => id);
}

const DAY: Milliseconds = 86_400_000;

/**
 * A grant of the application that was redeemed, and last used, before this is idle; null if none
 * is. The note of a use may be older than the use by {@link USE_NOTED_AFTER}.
 */
export function unusedBefore(
  {
    disabled,
    idle_days,
    enabled_at,
  }: Pick<ApplicationRecord, 'disabled' | 'idle_days' | 'enabled_at'>,
  now: Milliseconds,
): Milliseconds | null {
  if (disabled || idle_days === null) return null;
  const before = now - idle_days * DAY - USE_NOTED_AFTER;
  return (enabled_at ?? 0) < before ? before : null;
}

export function isUnusedSince(
  { created_at, last_used_at }: Pick<GrantRecord, 'created_at' | 'last_used_at'>,
  time: Milliseconds,
): boolean {
  return Math.max(created_at, last_used_at ?? 0) < time;
}

export const DOCUMENTED_REDIRECT_URIS = 20;

export type DocumentedApplication = ApplicationRecord & { document: DocumentedClient };

/** What an approval changes of the application that is there. */
export function documentedChanges(before: ApplicationRecord, approved: DocumentedApplication) {
  const { name, homepage_uri, policy_uri, tos_uri, document, redirect_uris: newest } = approved;
  const others = before.redirect_uris.filter((uri) => !newest.includes(uri));
  const redirect_uris = [...others, ...newest].slice(-DOCUMENTED_REDIRECT_URIS);
  return { name, homepage_uri, policy_uri, tos_uri, document, redirect_uris };
}

/** At most one of them. */
export interface AccountFilter {
  username?: string | undefined;
  external_id?: string | undefined;
}

/** A part of a list that is ordered by id, newest first. */
export interface ListRange {
  limit: number;
  /** Only records older than this id; null to start with the newest. */
  before: string | null;
}

/** A part of the list of client documents. */
export interface DocumentRange {
  limit: number;
  /** Only those behind this address; null to start with the first. */
  after: string | null;
}

/** The refusals of a request, an application, an account or a grant; `{}` for all. */
export type RefusalFilter =
  | { request_id: string }
  | { application_id: string }
  | { account_id: string }
  | { grant_id: string }
  | Record<string, never>;

export interface RefusalRange extends ListRange {
  /** Only refusals of this time or later, as their ids tell it. Default: all. */
  since?: Milliseconds | undefined;
}

export interface ConnectionPool {
  inUse: number;
  idle: number;
  /** Calls that wait for a connection. */
  waiting: number;
  /** The most connections to one server; 0 for no limit. */
  limit: number;
}

export interface Change {
  /** Stored by the same write as the change, so that the history can't contradict the grant. */
  initiator: Initiator;
}

export interface NewCode extends Omit<PendingRecord, 'account'>, Change {
  account_id: string;
}

export interface Erasure extends Change {
  account_id: string;
  now: Milliseconds;
  /**
   * The number of an erasure that is made again. An account that had it, or a greater one, and was put since, stays.
   * Default: the next one.
   */
  before?: number | undefined;
}

export interface Redemption extends Change {
  grant_id: string;
  application_id: string;
  code_hash: CredentialHash;
  secret_hash: CredentialHash;
  /** Has to equal the code's, if both exist. */
  redirect_uri: Claimed<string> | null;
  /** Of the verifier that was sent; null without one. Has to equal the code's. */
  code_challenge: string | null;
  /** The code has to be for one of these resources, or none for null; null for any. */
  resources: readonly (string | null)[] | null;
  /** Of the last disabling of the application. A code of an earlier one is over. */
  disabled_generation: number;
  now: Milliseconds;
}

export interface Revocation {
  grant_id: string;
  /** The application that has to own the grant; null for any. */
  application_id: string | null;
  /** Whether an earlier revocation makes the call return null. Default: false. */
  onlyActive?: boolean;
  /** It has to be redeemed, and last used, before this. Default: at any time. */
  unused_before?: Milliseconds;
  /** Default: that of the initiator. */
  reason?: StoredReason;
  now: Milliseconds;
  /** Null if it ends by itself. */
  initiator: Initiator | null;
}

export interface Recovery extends Change {
  grant_id: string;
  application_id: string;
  /** The hash of the new secret. */
  secret_hash: CredentialHash;
  /** The grant has to be redeemed later than this. */
  redeemed_after: Milliseconds;
  now: Milliseconds;
}

export interface Identification extends Change {
  link_id: string;
  link_hash: CredentialHash;
  /** The consent page, for the identified account. */
  page: PageRecord;
  /** Whether the host has a page of its own. Then this one is not kept, and none works. */
  own_page: boolean;
  now: Milliseconds;
}

export interface LinkSwitch extends Change {
  link_id: string;
  page_id: string;
  /** The hash of the new link. */
  link_hash: CredentialHash;
  now: Milliseconds;
}

export interface PageOpening extends Change {
  page_id: string;
  ticket_hash: CredentialHash;
  session_hash: CredentialHash;
  /** The end of the page, from its first opening on. */
  expires_at: Milliseconds;
  now: Milliseconds;
}

/** The latest link or the latest page of a link request: its holder may decide. */
export type LinkHolder = { link_hash: CredentialHash } | { page_id: string };

export interface NewDecision extends Change {
  link_id: string;
  holder: LinkHolder;
  /**
   * The approved account. A link approves no other account than the identified one, unless the
   * request was switched since. Null for a denial, which leaves the identified account.
   */
  account_id: string | null;
  decision: Omit<LinkDecision, 'at'>;
  now: Milliseconds;
}

/** An account with an application. */
export interface ConnectionIds {
  account_id: string;
  application_id: string;
}

/** An application, or an account with it. */
export interface OfApplication {
  account_id?: string | undefined;
  application_id: string;
}

/** An account, an application, or an account with an application. */
export type Parties = OfApplication | { account_id: string; application_id?: undefined };

export type RevocationMark = Parties &
  Change & {
    now: Milliseconds;
    /** What has a number less than this is ended. Default: the next one, so all that is there. */
    before?: number;
    /** Only if the record has had that number, which one from a backup may never have. */
    ifKnown?: boolean;
  };

/** What a step of some work has done. */
export interface Done {
  /** Whether nothing was left to do. */
  isOver: boolean;
  /** Nothing can be done now: a reader of SQLite's log holds it up. */
  isHeld?: true;
  /** How many records this call has changed. */
  changed: number;
  /** The grants that this call has revoked. Two that do the same at once may both have one. */
  revoked: RevokedRecord[];
  codes_cancelled: number;
}

/** It is taken until it is released, or its time is over. */
export interface Lease {
  name: string;
  holder: string;
}

/** What is done again and again, in parts that a caller paces. */
export interface Housekeeping {
  name: string;
  /** @returns whether there may be more */
  step(now: Milliseconds, limit: number): Promise<boolean>;
}

/** What `doctor` has made. */
export interface Trial extends ConnectionIds {
  /** Null if no code was issued. */
  grant_id: string | null;
}

export interface ReadOptions {
  /**
   * Reads as cheaply as the database can. During a failover, the result may lack writes that were
   * just acknowledged, so no decision may depend on it.
   */
  mayBeStale?: boolean;
}

/** How far a count of the active grants has come: what of an index was counted last. */
export type CountedPlace = readonly (string | number)[];

/** How many grants what was counted has added. */
export function liveChange(counts: HourCounts['counts']): number {
  let change = counts['grants:created'] ?? 0;
  for (const [name, count] of Object.entries(counts)) {
    if (name.startsWith('revoked:')) change -= count;
  }
  return change;
}

export type EndpointChanges = Partial<Pick<EndpointRecord, 'url' | 'types' | 'disabled_reason'>>;

/** An enabled endpoint with a delivery that is due. */
export interface DueEndpoint {
  id: string;
  /** Null of the host. */
  application_id: string | null;
  /** `failing`: its last try failed. `new`: no try of it has ended yet. */
  standing: 'working' | 'failing' | 'new';
}

/** A delivery whose try is to begin now. */
export interface ClaimedDelivery {
  delivery: DeliveryRecord & { claim: string; body: string };
  /** As it was after the claim. */
  endpoint: TriedEndpoint;
}

/** The end of a try, with what becomes of the delivery. */
export interface EndedTry {
  delivery_id: string;
  claim: string;
  endpoint_id: string;
  /** The URL that was tried. */
  url: string;
  attempt: AttemptRecord;
  /** When it is tried again; null if it is given up, or delivered. */
  next_attempt_at: Milliseconds | null;
  /** Whether the endpoint wants no more: it is disabled if it still has this URL. */
  isGone: boolean;
  now: Milliseconds;
}

/** An endpoint is disabled after so many failed tries at least: see FAILING_LASTS. */
export const FAILING_TRIES = 5;

export interface EventCounts {
  /** Events that are no deliveries yet, and deliveries that are not ended, up to a limit. */
  pending: number;
  /** When the oldest of them happened; null for none. */
  oldest_at: Milliseconds | null;
  /** Enabled endpoints whose last try failed. */
  failing_endpoints: number;
}

interface Measures {
  database_bytes: number;
  /** Null if the database does not say. */
  free_bytes: number | null;
  /** When the last `latchkey backup` was made. */
  backed_up_at: Milliseconds | null;
}

/**
 * The rules' port to a database. Each method is atomic. `packages/store-suite` holds every
 * store to these promises:
 *
 * - Ids and hashes are well formed. Ids are lower-case UUIDs. The id of a new record is new: a
 *   taken one is a bug of the caller, and throws an ordinary error.
 * - An acknowledged write is on disk; on a replica set, on the disks of a majority. No crash and no
 *   failover undoes it. A read sees every write that was acknowledged before the read began, in any
 *   process.
 * - Every method throws a DomainError `store_unavailable` if the database does not respond; then
 *   nothing was changed. A write whose outcome can't be found out throws `outcome_unknown`, and so does
 *   each step behind a mark, since the mark has changed something. Such a write may still be made later,
 *   but never undoes a write that was acknowledged in between.
 * - What a mark ends (an erasure, a deletion or a revocation of all) is ended from its acknowledgment on,
 *   for every process and every method: a grant is revoked, as of the mark, and a code is none. That does
 *   not wait for any step of its {@link Work}. What is issued after the acknowledgment is not ended.
 */
export interface Store {
  // Applications

  createApplication(application: ApplicationRecord): Promise<void>;

  findApplication(application_id: string, options?: ReadOptions): Promise<ApplicationRecord | null>;

  /** The application with this document. */
  findDocumented(uri: string, options?: ReadOptions): Promise<ApplicationRecord | null>;

  /**
   * Creates an application with a document, or, if there is one, gives it the members of the new one
   * that are its document's, with the newest {@link DOCUMENTED_REDIRECT_URIS} of their redirect URIs.
   * Concurrent calls create one.
   */
  putDocumented(application: DocumentedApplication): Promise<ApplicationRecord>;

  /** Reads all that a request of the application may depend on. */
  authenticateApplication(
    application_id: string,
    options?: ReadOptions,
  ): Promise<ApplicationAuthentication | null>;

  /** @param documented - whether they have a document. Default: all */
  listApplications(
    range: ListRange,
    filter?: { documented?: boolean | undefined },
  ): Promise<ApplicationRecord[]>;

  /**
   * Adds a secret unless the application has `most` live ones: those without an expiry or with one
   * after `now`. Concurrent calls together never exceed the limit. Of the expired secrets, keeps
   * the {@link EXPIRED_SECRETS_KEPT} that expired last, since every request reads all secrets.
   */
  addSecret(
    application_id: string,
    secret: SecretRecord,
    limit: { most: number; now: Milliseconds },
  ): Promise<'added' | 'application_not_found' | 'secret_limit_reached'>;

  /** Removes a secret for good. Returns the application without it. */
  removeSecret(
    application_id: string,
    secret_id: string,
  ): Promise<ApplicationRecord | 'application_not_found' | 'secret_not_found'>;

  /**
   * Returns the changed application; null if there is none. Idempotent. Changes its generations as
   * {@link generationsAfter} says; so does the next.
   */
  updateApplication(
    application_id: string,
    changes: ApplicationChanges,
  ): Promise<ApplicationRecord | null>;

  /**
   * Returns the changed application; null if there is none. Idempotent: it is enabled at `now` only
   * if it was disabled. Each disabling ends what was issued before it.
   *
   * @param nameOf - the name that its event has. Default: its own
   */
  setApplicationDisabled(
    application_id: string,
    disabled: boolean,
    now: Milliseconds,
    nameOf?: (application: ApplicationRecord) => string,
  ): Promise<ApplicationRecord | null>;

  /**
   * Deletes a disabled application with its secrets, and returns it as it was. It is a mark: once this has
   * returned, the application is unknown to every process, and its grants are revoked. The rest is
   * {@link deletionWork}.
   */
  deleteApplication(
    deletion: DeletionRecord,
  ): Promise<ApplicationRecord | 'application_not_found' | 'application_enabled'>;

  /**
   * Records when a secret was used. Never moves the time back. Ignores a removed secret. A crash
   * may lose the time: the next use makes up for it.
   */
  noteSecretUse(application_id: string, secret_id: string, at: Milliseconds): Promise<void>;

  // Client documents

  /**
   * Keeps a document that was fetched at its `kept_at`, unless one is pinned or was fetched later. The same document
   * again is kept once an hour.
   */
  keepDocument(document: KeptDocument): Promise<void>;

  /** Pinned or kept. One that is over may still be there. */
  findKeptDocument(document_uri: string): Promise<KeptDocument | null>;

  /** Those that are pinned, or kept at `now`, by their address. */
  listKeptDocuments(
    range: DocumentRange,
    filter: { now: Milliseconds; pinned?: boolean | undefined },
  ): Promise<KeptDocument[]>;

  /** The addresses of those that are pinned. Sees every acknowledged change. */
  listPinned(): Promise<string[]>;

  /**
   * Pins a document in the place of what is kept or pinned. Refuses another one if there are `most`. Concurrent
   * calls may exceed that by their number.
   */
  pinDocument(
    document: Omit<KeptDocument, 'kept_until'>,
    limit: { most: number },
  ): Promise<'pinned' | 'document_limit_reached'>;

  /** Returns the document that was pinned; null if there is none. Nothing of it is left. */
  unpinDocument(document_uri: string): Promise<KeptDocument | null>;

  /** Removes what is kept, and not what is pinned. */
  endKeptDocument(document_uri: string): Promise<void>;

  // Accounts

  /** Inserts the account, or replaces it as a whole. */
  putAccount(account: CurrentAccount): Promise<void>;

  findAccount(account_id: string): Promise<CurrentAccount | null>;

  /** The accounts in the order in which they were first put, or those that match. */
  listAccounts(filter: AccountFilter, range: ListRange): Promise<ListedAccount[]>;

  // Marks, and the work that each has begun

  /**
   * Removes the account, also one that was never known, and ends its codes, grants, pages and link requests. Its
   * names are shown nowhere any more. An account that is put later is a new one: a put does the steps of the work
   * first, but for the log.
   *
   * @returns what is left to do, which is done if the account was never known, or was erased before and not put again:
   *   to delete its codes, its pages, and the link requests that name it or belong to one
   *   of these, to revoke its grants, and to replace the names in their snapshots by {@link ERASED}. At the end, the
   *   database has these names nowhere.
   */
  markErasure(erasure: Erasure): Promise<Work>;

  /**
   * Ends all codes and grants of an account, of an application, or of an account with an application. If a kept mark
   * has ended what its number ends, that one is returned, and nothing is written.
   *
   * @returns what is left to do: to write that down in each. Null if there is no such account or application, or if it
   *   never had the number
   */
  markRevocation(mark: RevocationMark): Promise<Work | null>;

  /**
   * What is unfinished, the oldest first.
   *
   * @param limit - of erased accounts, of other accounts, and of applications
   */
  listWork(limit: number): Promise<Work[]>;

  /**
   * Does a part of a step of {@link WORK_STEPS}. Idempotent, and right in several processes at once. A failure
   * leaves a part undone, which a repetition does, and is `outcome_unknown`.
   *
   * @param limit - the most records to change
   */
  doStep(work: Work, step: WorkStep, limit: number): Promise<Done>;

  /** Notes that every step is over. Idempotent. */
  finishWork(work: Work): Promise<void>;

  // Who works

  /**
   * Whether the lease is free at `now`, or its holder's own. Then it is taken for `lasts`. It may fail, and two
   * holders may have one while the primary changes: it saves work, and decides nothing.
   */
  takeLease(lease: Lease & { now: Milliseconds; lasts: Milliseconds }): Promise<boolean>;

  /** Only if the holder has it. */
  releaseLease(lease: Lease): Promise<void>;

  /** Removes what has expired, and reduces revoked grants. */
  readonly housekeeping: readonly Housekeeping[];

  // Scopes

  /**
   * Inserts the description of a scope, or replaces it as a whole. Refuses a new one if there are
   * `most`. Concurrent calls may exceed that by their number.
   */
  putScope(scope: ScopeRecord, limit: { most: number }): Promise<'put' | 'scope_limit_reached'>;

  /** All scopes, by name. */
  listScopes(): Promise<ScopeRecord[]>;

  /** All names, in order. The descriptions can be a few megabytes, which this does not read. */
  listScopeNames(): Promise<string[]>;

  /**
   * The id of each scope's description, in their order; null for one that is not described. A
   * description keeps its id when it is replaced. One that is put after a deletion has another.
   *
   * @param options.withSensitive - false: null for one that is sensitive, too. Default: true
   */
  findDescriptionIds(
    scopes: readonly string[],
    options?: ReadOptions & { withSensitive?: boolean },
  ): Promise<(string | null)[]>;

  /** Returns the deleted description; null if there is none. */
  deleteScope(scope: string): Promise<ScopeRecord | null>;

  // Resources

  /**
   * Creates a resource, unless there is one with its address, or there are `most`: not even concurrent
   * calls exceed that.
   */
  createResource(
    resource: ResourceRecord,
    limit: { most: number },
  ): Promise<'created' | 'resource_exists' | 'resource_limit_reached'>;

  /** All resources, by their address. */
  listResources(options?: ReadOptions): Promise<ResourceRecord[]>;

  /** Changes a resource as {@link resourceAfter} says. Refuses what that refuses. Idempotent. */
  updateResource(
    resource_id: string,
    changes: ResourceChanges,
  ): Promise<ResourceRecord | 'resource_not_found' | 'default_scopes_outside'>;

  /** Returns the deleted resource; null if there is none. */
  deleteResource(resource_id: string): Promise<ResourceRecord | null>;

  // Keys

  /**
   * Creates a key unless there are `most` live ones: those without an expiry or with one after `now`.
   * Concurrent calls together never exceed the limit. Of the expired keys, keeps the
   * {@link EXPIRED_SECRETS_KEPT} that expired last.
   */
  createKey(
    key: KeyRecord,
    limit: { most: number; now: Milliseconds },
  ): Promise<'created' | 'key_limit_reached'>;

  findKey(key_id: string, options?: ReadOptions): Promise<KeyRecord | null>;

  /** All keys, newest first. */
  listKeys(): Promise<KeyRecord[]>;

  /** Returns the deleted key; null if there is none. Once this has returned, no process finds it. */
  deleteKey(key_id: string): Promise<KeyRecord | null>;

  /** Records when a key was used, as {@link Store.noteSecretUse} does. */
  noteKeyUse(key_id: string, at: Milliseconds): Promise<void>;

  // Link requests and pages. Each is deleted {@link LINKS_KEPT} after it expires.

  /** Creates an open link request. After `outcome_unknown` it may exist, which does no harm. */
  createLink(link: LinkRecord & Change): Promise<void>;

  findLink(link_id: string): Promise<LinkRecord | null>;

  /**
   * If the account exists, the link is the latest, the request is undecided and `now` is before its
   * expiry: creates the page, makes it the latest, makes its account the identified one, and removes
   * the mark of a switch.
   *
   * @returns the link request; null if nothing was changed, and the page is not kept
   */
  identifyLink(identification: Identification): Promise<LinkRecord | null>;

  /**
   * Replaces the link, and marks the request as switched, if the page is the latest of its link
   * request, the request is undecided and `now` is before its expiry; otherwise null. The former link
   * is void. The page stays the latest until the host identifies an account: a second click replaces
   * the link again, and a user who goes back can still decide.
   */
  switchLink(change: LinkSwitch): Promise<LinkRecord | null>;

  /**
   * Decides a link request, if the holder's link or page is the latest, the request is undecided,
   * `now` is before its expiry, and the account is the identified one, if there is one and the request
   * is not switched. Of concurrent decisions exactly one is made; the others receive null.
   */
  decideLink(decision: NewDecision): Promise<LinkRecord | null>;

  /** Creates a page that belongs to no link request. Null if there is no such account. */
  createPage(page: PageRecord & Change): Promise<PageRecord | null>;

  findPage(page_id: string): Promise<PageRecord | null>;

  /**
   * The current account of a page; `signed_out` if {@link Store.endPages} has ended the page. Null
   * if there is no such page or account.
   */
  findPageAccount(page_id: string): Promise<AccountRecord | 'signed_out' | null>;

  /**
   * Ends every page of an account that was created before. One that is created after this has
   * returned is not ended. Does nothing if there is no such account.
   */
  endPages(account_id: string): Promise<void>;

  /**
   * Opens a page with its ticket, and stores the hash of a session that waits to come back. A ticket can be taken
   * again for {@link REOPENING}, {@link SESSIONS_OF_TICKET} times in all. Null if it is another one, one of its
   * sessions has come back, or it is too late or too often at `now`.
   */
  openPage(opening: PageOpening): Promise<PageRecord | null>;

  /**
   * Makes a session that has come back the one of its page, and ends the others that wait. Null if another one has
   * come back before, or the page has no such session.
   */
  returnToPage(page_id: string, session_hash: CredentialHash): Promise<PageRecord | null>;

  // Codes

  /**
   * Issues a code with a snapshot of the current account. Null if there is no such account, or it
   * was erased meanwhile; then no copy of it is left.
   */
  issueCode(code: NewCode): Promise<PendingRecord | null>;

  /** The pending codes of an account, newest first, with expired ones that are still stored. */
  listCodes(account_id: string): Promise<PendingRecord[]>;

  /** Deletes a pending code, expired or not; null if there is none. */
  cancelCode(grant_id: string): Promise<PendingRecord | null>;

  /**
   * Turns a pending code into an active grant, created at `now`, if
   * - the application and the hash are those of the code,
   * - `now` is before the expiry of the code,
   * - the generation of the code is not before that of the last disabling,
   * - the challenge is the code's, or both have none,
   * - the resource of the code is one of those, and
   * - the redirect URI is the code's. It may be left out if the code has a challenge, or if its
   *   authorization request left it out. If the code has none, any is ignored.
   *
   * Otherwise null, and nothing is changed. Under concurrent calls exactly one caller receives the
   * grant; the others receive null.
   */
  redeemCode(redemption: Redemption): Promise<GrantRecord | null>;

  /**
   * The state of a code, also after its redemption. Null if there is no record of it, or only a
   * {@link RevokedRecord}.
   */
  findCode(grant_id: string): Promise<CodeState | null>;

  /**
   * Counts the pending codes that expire after `now`, up to `limit`, which bounds the time too. For
   * monitoring: it may miss the latest changes.
   */
  countPendingCodes(options: { now: Milliseconds; limit: number }): Promise<number>;

  /** For monitoring. */
  measure(): Promise<Measures>;

  // Grants

  /**
   * Revokes a grant and deletes the hash of its secret. Null if there is no such grant, its code
   * was not redeemed, it belongs to another application, or it was used since `unused_before`. Once
   * this has returned, no process sees the grant as active. Idempotent: a repetition returns the first
   * result, for ever.
   *
   * Of concurrent calls with `onlyActive` exactly one receives the grant; the others receive null.
   */
  revokeGrant(revocation: Revocation): Promise<RevokedRecord | null>;

  /**
   * Replaces the secret of an active grant that was never used and was redeemed after
   * `redeemed_after`. Otherwise null, and nothing is changed. Of this and a concurrent
   * {@link Store.noteUse} with the old secret exactly one succeeds.
   */
  recoverGrant(recovery: Recovery): Promise<GrantRecord | null>;

  /**
   * Reads the grant, its application and its account at once. Null if there is no such grant or its
   * code was not redeemed.
   *
   * @param options.currentAccount - true for the current account, false for that at issue
   */
  authenticateGrant(
    grant_id: string,
    options: { currentAccount: boolean } & ReadOptions,
  ): Promise<GrantAuthentication | null>;

  /**
   * Records a use of a grant's secret: as the first one, unless one is recorded already, and as the
   * last one, unless a later one is.
   *
   * @returns whether the grant is active with this secret, and a use at `now` or later is on disk
   */
  noteUse(
    use: Change & {
      grant_id: string;
      secret_hash: CredentialHash;
      now: Milliseconds;
    },
  ): Promise<boolean>;

  /**
   * The grants of an account or an application, with revoked ones, without pending codes, and
   * without grants of which only a {@link RevokedRecord} is left.
   */
  listGrants(
    filter: { account_id: string } | { application_id: string },
    range: ListRange,
  ): Promise<GrantRecord[]>;

  // Connections. They cost what is active or pending, however many grants were revoked.

  /**
   * The applications with active grants of an account, and maybe some with pending codes alone: one step along an
   * index for each of them.
   */
  listConnected(account_id: string): Promise<ConnectedApplication[]>;

  /** Those of an account with these applications, in no order. One without active grants, or deleted, is missing. */
  listConnections(of: {
    account_id: string;
    application_ids: readonly string[];
  }): Promise<ConnectionRecord[]>;

  /** The active grants, newest first. Has every grant that was active before the call began. */
  listActiveGrants(filter: OfApplication, range: ListRange): Promise<ConnectedGrant[]>;

  /** When the newest code was issued, redeemed or not; null if there is none. */
  newestGrantTime(): Promise<Milliseconds | null>;

  /**
   * The history of a grant since the issue of its code; null if there is no record of it. Has every
   * acknowledged change.
   */
  findGrantHistory(grant_id: string): Promise<GrantHistory | null>;

  /** The histories of the grants of {@link Store.listGrants}. */
  listGrantHistories(account_id: string, range: ListRange): Promise<ListedHistory[]>;

  /**
   * Deletes the records of a trial for good, an active grant too. Nobody else knows their ids, so
   * nothing has to refuse them later. Idempotent.
   */
  removeTrial(trial: Trial): Promise<void>;

  // Endpoints. Those of a deleted application are found by none of these methods.

  /**
   * Creates an endpoint unless its application, or the host, has `most`: not even concurrent calls exceed
   * that. No event that was acknowledged before the call is told to it.
   */
  createEndpoint(
    endpoint: EndpointRecord,
    limit: { most: number },
  ): Promise<'created' | 'endpoint_limit_reached' | 'application_not_found'>;

  /** Null for the host's endpoints; undefined for all. */
  listEndpoints(
    filter: { application_id?: string | null | undefined },
    range: ListRange,
  ): Promise<EndpointRecord[]>;

  findEndpoint(endpoint_id: string): Promise<EndpointRecord | null>;

  /**
   * Returns the changed endpoint; null if there is none. Enabling clears `failing_since` and `failures`;
   * disabling drops what is pending, and keeps an earlier reason. Events that were acknowledged before the
   * call are told as before.
   */
  updateEndpoint(endpoint_id: string, changes: EndpointChanges): Promise<EndpointRecord | null>;

  /** Raises the version of the secret by one. Returns the changed endpoint; null if there is none. */
  rotateEndpoint(
    endpoint_id: string,
    rotation: { overlap_until: Milliseconds | null },
  ): Promise<EndpointRecord | null>;

  /** Returns the deleted endpoint; null if there is none. What is pending is dropped. */
  deleteEndpoint(endpoint_id: string, now: Milliseconds): Promise<EndpointRecord | null>;

  /**
   * Notes that these keys sign for endpoints from now on. Without endpoints, any may.
   *
   * @throws BadSetting if its endpoints have secrets of other keys; then nothing has changed
   * @throws CopiedDatabase
   */
  admitEventsKeys(keys: KeyFingerprints): Promise<void>;

  /** The keys that were admitted, as in {@link knownAfter}. */
  findEventsKeys(): Promise<readonly string[] | undefined>;

  // Events and deliveries

  /**
   * Makes deliveries of some events that were recorded, oldest first. May be repeated, and run in several
   * processes: a delivery is made once.
   *
   * @param mayMake - asked if there is something to make; if not, nothing is made. Default: yes
   * @returns whether there may be more
   */
  makeDeliveries(now: Milliseconds, mayMake?: () => Promise<boolean>): Promise<boolean>;

  /** Inserts the delivery of a ping, claimed for {@link CLAIM_LASTS}. Null without such an enabled endpoint. */
  createPing(delivery: DeliveryRecord & { claim: string }): Promise<TriedEndpoint | null>;

  /** The enabled endpoints that have a delivery due, but for these. */
  listDueEndpoints(options: {
    now: Milliseconds;
    except: readonly string[];
  }): Promise<DueEndpoint[]>;

  /**
   * Claims deliveries that are due, of many some of those due for longest, for {@link CLAIM_LASTS}. Of concurrent
   * calls, one receives a delivery. What its endpoint is not told any more is dropped instead: that of a disabled
   * application but `grant.revoked` and `application.…`, and a message without a body.
   *
   * @param claim - tells the calls apart
   */
  claimDeliveries(options: {
    now: Milliseconds;
    claim: string;
    endpoints: readonly { id: string; most: number }[];
  }): Promise<ClaimedDelivery[]>;

  /**
   * Writes down the ends of tries. One whose claim was lost changes its endpoint alone.
   *
   * @returns the endpoints that this call disabled
   */
  endTries(tries: readonly EndedTry[]): Promise<EndpointRecord[]>;

  /** Makes deliveries due again whose tries were cut. */
  releaseDeliveries(claim: string, ids: readonly string[], now: Milliseconds): Promise<void>;

  /** With erased messages, which have no body. */
  findDelivery(delivery_id: string): Promise<DeliveryRecord | null>;

  listDeliveries(
    filter: ({ endpoint_id: string } | { grant_id: string }) & {
      status?: DeliveryRecord['status'] | undefined;
    },
    range: ListRange,
  ): Promise<DeliveryRecord[]>;

  /**
   * Begins the timetable of a delivery anew that has ended, or waits for a later try. Null without a body, or
   * without an enabled endpoint.
   */
  retryDelivery(delivery_id: string, now: Milliseconds): Promise<DeliveryRecord | null>;

  /**
   * Begins the timetable of deliveries anew that ended as `failed` or `dropped` at `since` or later, and of
   * those that wait for a later try, newest first. No pings, nothing without a body, and nothing without an
   * enabled endpoint.
   *
   * @returns how many, at most `limit`
   */
  replayDeliveries(replay: {
    endpoint_id: string;
    since: Milliseconds;
    now: Milliseconds;
    limit: number;
  }): Promise<number>;

  /** For monitoring: it may miss the latest changes. `limit` bounds the time too. */
  countEvents(limit: number): Promise<EventCounts>;

  // Refusals

  /**
   * Keeps refusals until a few minutes after they expire. Idempotent. A crash may lose them, since
   * no promise depends on them.
   */
  keepRefusals(refusals: readonly RefusalRecord[]): Promise<void>;

  /** The refusals of a filter, newest first. */
  findRefusals(filter: RefusalFilter, range: RefusalRange): Promise<RefusalRecord[]>;

  /** The oldest one with a request id, which a caller may send with every later request too. */
  findFirstRefusal(
    request_id: string,
    range?: Pick<RefusalRange, 'since'>,
  ): Promise<RefusalRecord | null>;

  // Changes on the command line

  /** Keeps changes until they are forgotten. Idempotent. */
  keepCommandChanges(changes: readonly CommandChange[]): Promise<void>;

  /** The oldest kept changes, at most `limit`. */
  listCommandChanges(limit: number): Promise<CommandChange[]>;

  forgetCommandChanges(ids: readonly string[]): Promise<void>;

  // The proof that a log is whole

  /**
   * Takes the next `count` numbers of the one counter for all processes. No number is taken twice. One may
   * be taken by a call that throws.
   *
   * @param options.above - the counter is raised to it first. Default: not at all
   * @returns the last number that was ever taken; 0 if there is none
   */
  takeLogNumbers(options: { count: number; above?: number }): Promise<number>;

  // What the summary is made of

  /**
   * Adds to the counts of an hour, and what these change of the number of active grants to the last
   * {@link LiveCount}. Concurrent calls all count. One that throws may have been counted. The counts of
   * an hour are deleted some time after {@link COUNTS_KEPT}.
   */
  addCounts(addition: HourCounts): Promise<void>;

  /** The counts of the hours that begin in this time, oldest first. An hour without any may be missing. */
  listCounts(time: { since: Milliseconds; until: Milliseconds }): Promise<HourCounts[]>;

  /** Null before the first count. */
  findLiveCount(): Promise<LiveCount | null>;

  /**
   * Counts a part of the active grants, by an index alone. May miss the latest changes.
   *
   * @param part.after - where the last part ended; null for the first one
   * @param part.limit - the most grants of the part
   * @returns what to add, which may be negative, and where the part ended; null at the end
   */
  countActiveGrants(part: {
    after: CountedPlace | null;
    limit: number;
  }): Promise<{ count: number; after: CountedPlace | null }>;

  keepLiveCount(live: LiveCount): Promise<void>;

  // Rate limits

  /**
   * Adds to the count of a key. If there is none, or its window has ended at `now`, a window of
   * `duration` begins. A window that would end later than a new one is shortened to it, since the
   * clock of another process may have been ahead. Each call of any process is counted once; one
   * that throws may have been counted. A failover may lose a count. The count is deleted some time
   * after its window.
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

  /** Undefined if the database works within the process. */
  connectionPool?(): ConnectionPool;

  /** How far the clock of a remote database is ahead of this machine's; negative if it is behind. */
  clockDifference?(): Milliseconds;

  /** Throws `store_unavailable` unless the database responds. */
  ping(): Promise<void>;

  /**
   * Waits for running calls, then closes the database. Later calls throw `store_unavailable`.
   * Idempotent.
   */
  close(): Promise<void>;
}
