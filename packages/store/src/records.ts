import type { Milliseconds } from '@latchkey/domain/clock';
import type { Actor, Initiator } from '@latchkey/domain/initiator';
import type { Reason } from '@latchkey/domain/reasons';
import type { Choice, ErrorCode } from '@latchkey/schema';
import type { ApplicationMembers } from './application-members.ts';
import { picking } from './condition.ts';
import { type AnyKind, type RecordOf, type ShownOf, shownFields, type WithSet } from './kind.ts';
import type {
  applications,
  deliveries,
  endpoints,
  grants,
  keptDocuments,
  links,
  pages,
  refusals,
} from './kinds.ts';
import type {
  AccountRecord,
  CredentialHash,
  Ending,
  ResourceRecord,
  StoredReason,
} from './values.ts';

// What callers are given of the kinds: their members are described where they are declared, in kinds.ts.

export * from './values.ts';

/** Takes the internal fields out of a record. */
export const shownOf = <K extends AnyKind>(kind: K) =>
  picking(shownFields(kind)) as unknown as (record: ShownOf<K>) => ShownOf<K>;

/** The account as it is now. */
export interface CurrentAccount extends AccountRecord {
  /** The host's own id of it, which no copy in a grant has. */
  external_id?: string;
}

export interface ListedAccount {
  /** UUIDv7: sorts by when the account was first put. */
  place: string;
  account: CurrentAccount;
}

/** Replaces the names in snapshots of an erased account. */
export const ERASED = { username: 'erased', display_name: 'erased', twitter: null } as const;

export type ApplicationRecord = ShownOf<typeof applications>;

/** The logo may have 8 KB, which would travel with each request. Only pages and operators see it. */
export type ApplicationAuthentication = Omit<ApplicationRecord, 'logo_uri'>;

export type ApplicationChanges = Partial<ApplicationMembers>;

export type ResourceChanges = Partial<Pick<ResourceRecord, 'name' | 'scopes' | 'default_scopes'>>;

/** A client document that can be used without its server. */
export type KeptDocument = RecordOf<typeof keptDocuments>;

/** Made once. */
export interface LinkDecision {
  status: 'approved' | 'denied';
  /** The id of the link request if the host decided, otherwise that of the page. */
  decided_by: string;
  /** Null for a denial. */
  grant_id: string | null;
  /** The granted scopes; null for a denial. */
  scope: string | null;
  /** Null for nothing, and for a denial. */
  choice: Choice | null;
  at: Milliseconds;
}

/** An authorization request that was accepted. */
export interface LinkRecord
  extends Omit<
    ShownOf<typeof links>,
    'granted_scope' | 'decided_at' | Exclude<keyof LinkDecision, 'scope'>
  > {
  /** Null while undecided. */
  decision: LinkDecision | null;
}

/** A page for one account. */
export type PageRecord = ShownOf<typeof pages>;

/** The deletion of an application whose grants may not all be revoked yet. */
export interface DeletionRecord {
  application_id: string;
  deleted_at: Milliseconds;
  deleted_by: Initiator;
}

/** What a mark has begun. Any process can go on with it. */
export interface Work extends Pick<Ending, 'kind' | 'before' | 'at' | 'by' | 'is_done'> {
  /** Null for all of an application. */
  account_id: string | null;
  /** Null for all of an account. */
  application_id: string | null;
}

// A code and a grant are one record. Of each part that a caller is given: what is read, and what that makes.

type Grant = RecordOf<typeof grants>;
type Part<List extends readonly (keyof Grant)[]> = Pick<Grant, List[number]>;
interface Id {
  /** UUIDv7, created at the issue of the code. */
  grant_id: string;
}

export const BINDING = [
  ...['redirect_uri', 'redirect_uri_given', 'code_challenge', 'resource', 'link_id'],
] as const;
/** Set when the code is issued, and never changed. */
export interface CodeBinding extends Part<typeof BINDING> {}

export const PENDING = [
  ...['id', 'application_id', 'scope', 'generation', 'application_revocations', 'account'],
  ...['choice', 'code_hash', 'code_expires_at', ...BINDING],
] as const;
/** A code that was not redeemed. */
export interface PendingRecord
  extends Id,
    Omit<
      WithSet<Part<typeof PENDING>, 'scope' | 'account' | 'code_hash' | 'code_expires_at'>,
      'id'
    > {}

/** Shows why a code can't be redeemed. */
export interface CodeState
  extends CodeBinding,
    WithSet<
      Pick<Grant, 'application_id' | 'account_id' | 'generation' | 'code_hash'>,
      'account_id' | 'code_hash'
    > {
  redeemed: boolean;
}

export const USED = [
  ...['application_id', 'resource', 'scope', 'choice', 'created_at', 'last_used_at', 'revoked_at'],
] as const;
export const CONNECTED = ['id', ...USED] as const;
/** A grant without the account that it is of. */
export interface ConnectedGrant
  extends Id,
    Omit<WithSet<Part<typeof CONNECTED>, 'scope' | 'created_at'>, 'id'> {}

export const GRANT = [...CONNECTED, 'account'] as const;
/** A redeemed code. */
export interface GrantRecord extends ConnectedGrant {
  /** As it was when the code was issued. */
  account: AccountRecord;
}

export const REVOKED = ['id', 'application_id', 'created_at', 'revoked_at'] as const;
/** The part of a revoked grant that is kept for ever. */
export interface RevokedRecord
  extends Id,
    Omit<WithSet<Part<typeof REVOKED>, 'created_at' | 'revoked_at'>, 'id'> {}

export const HISTORY = [
  ...['id', 'application_id', 'account_id', 'issued_by', 'created_at', 'redeemed_by'],
  ...['recoveries', 'recovered_at', 'recovered_by', 'first_used_at', 'first_used_by'],
  ...['revoked_at', 'revoked_by', 'revoked_reason'],
] as const;
/**
 * Each `_by` is null if the change was not made, or if only a {@link RevokedRecord} is left. The id
 * has the time of issue.
 */
export interface GrantHistory extends Id, Omit<Part<typeof HISTORY>, 'id'> {}

/** Makes a part of what was read. */
export const partOf = <R extends Id, N extends keyof Grant>(names: readonly N[]) =>
  picking(names, (name) => (name === 'id' ? 'grant_id' : name)) as (found: Pick<Grant, N>) => R;

export interface ListedHistory extends GrantHistory, Pick<CodeBinding, 'link_id'> {}

export interface GrantAuthentication {
  /** Its scope is empty if only a {@link RevokedRecord} is left. */
  grant: ConnectedGrant;
  /** Null once the grant is revoked. */
  secret_hash: CredentialHash | null;
  /** When a request was first authenticated with the grant's secret; null for never. */
  first_used_at: Milliseconds | null;
  /** Null if there is no such application, for example after its deletion. */
  application_disabled: boolean | null;
  /** Of the application, like the next three; null if there is none. */
  application_public: boolean | null;
  /** The address of its document; null if it has none. */
  document_uri: string | null;
  idle_days: number | null;
  enabled_at: Milliseconds | null;
  /** Null if the caller asked for the current account and it is gone. */
  account: AccountRecord | null;
  /** Of the current account; null if it has none or is gone. */
  external_id: string | null;
}

/** An application that an account has active grants of. */
export interface ConnectedApplication {
  application_id: string;
  /** What its name follows from. Null if it was deleted. */
  application: Pick<ApplicationRecord, 'name' | 'document' | 'redirect_uris'> | null;
}

export interface ConnectedPage {
  connected: ConnectedApplication[];
  /** Behind which application the next ones are; null at the end. */
  next: string | null;
}

/** Why a grant ended. */
export type EndReason = 'application' | 'user' | 'host' | StoredReason;

/** A window begins with its first addition. */
export interface WindowCount {
  count: number;
  /** From then on the count starts again. */
  ends_at: Milliseconds;
}

/** The key of the last number that a process or a command has taken for the log. */
export const LOG_COUNTER = 'log';

export interface RefusalRecord extends Omit<RecordOf<typeof refusals>, 'called_by'> {
  /** Null if the caller was not authenticated. The ids are unverified then. */
  by: Actor | null;
}

/** What is counted. A reason of a refusal may be missing: `-`. */
export type CountName =
  | `links:${'begun' | 'approved' | 'denied'}`
  | 'grants:created'
  | `revoked:${EndReason}`
  | `refused:${ErrorCode}:${Reason | '-'}`;

/** What happened in an hour, which all processes add to. */
export interface HourCounts {
  /** Its beginning: a multiple of 3,600,000. */
  hour: Milliseconds;
  counts: Partial<Record<CountName, number>>;
}

/** How many grants are active, pending codes not among them. */
export interface LiveCount {
  count: number;
  /** What was created and revoked since then is added to and taken from the count. */
  counted_at: Milliseconds;
}

/** The owner of the host's endpoints. No id is less. */
export const HOST_OWNER = '00000000-0000-0000-0000-000000000000';

/** An address that is told of events. */
export interface EndpointRecord extends Omit<RecordOf<typeof endpoints>, 'owner' | 'generation'> {
  /** Null for the host's. */
  application_id: string | null;
}

/** What a try needs of its endpoint. */
export type TriedEndpoint = Pick<
  EndpointRecord,
  'id' | 'application_id' | 'url' | 'secret_version' | 'overlap_until'
>;

/** One event for one endpoint. */
export type DeliveryRecord = ShownOf<typeof deliveries>;

export const ATTEMPTS_KEPT = 10;
