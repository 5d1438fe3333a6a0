import type { Claimed } from '@latchkey/domain/claimed';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { Initiator } from '@latchkey/domain/initiator';
import { USE_NOTED_AFTER } from '@latchkey/domain/lifetimes';
import type {
  ApplicationRecord,
  AttemptRecord,
  CredentialHash,
  DeliveryRecord,
  DocumentedClient,
  EndpointRecord,
  GrantRecord,
  HourCounts,
  LinkDecision,
  PageRecord,
  PendingRecord,
  RevokedRecord,
  StoredReason,
  TriedEndpoint,
} from './records.ts';

// What the operations are given, and what they return but records.

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

/** A part of the applications that an account is connected with, by their ids. */
export interface ConnectedRange {
  /** Of grants that are read for it. */
  limit: number;
  /** Only applications behind this id; null to start with the first. */
  after: string | null;
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
