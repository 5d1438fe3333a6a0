import type { Claimed } from '@latchkey/domain/claimed';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { CredentialHash } from '@latchkey/domain/credentials/credentials';
import type { ActionName, Actor, Initiator } from '@latchkey/domain/initiator';
import type { Reason } from '@latchkey/domain/reasons';
import type {
  Account,
  AttemptResult,
  Choice,
  DeliveryStatus,
  EndpointDisabledReason,
  ErrorCode,
  EventType,
  MessageType,
  Role,
  Scope,
} from '@latchkey/schema';
import type { ApplicationMembers } from './application-members.ts';

export type { CredentialHash };

export type AccountRecord = Omit<Account, 'object'>;

/** The account as it is now. */
export interface CurrentAccount extends AccountRecord {
  /** The host's own id of it, which no copy in a grant has. */
  external_id?: string;
}

export interface SecretRecord {
  id: string;
  hash: CredentialHash;
  hint: string;
  created_at: Milliseconds;
  expires_at: Milliseconds | null;
  last_used_at: Milliseconds | null;
}

export const CLIENT_METHODS = ['private_key_jwt', 'none'] as const;
/** How an application with a document authenticates. The strongest one is the first. */
export type ClientMethod = (typeof CLIENT_METHODS)[number];

export const SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Where an application that nobody registered says who it is. */
export interface DocumentedClient {
  /** The address of its document, which is its client_id. */
  uri: string;
  /** Of a client that registered itself: the address has all that it says, and names the service as its host. */
  in_address?: true;
  method: ClientMethod;
  /** The address of its keys. Null if they are in the document, or the method needs none. */
  jwks_uri: Claimed<string> | null;
  /** Of its keys; null for each that is taken. */
  signing_alg: SigningAlgorithm | null;
}

export interface ApplicationRecord extends ApplicationMembers {
  /** UUIDv7: sorts by creation. */
  id: string;
  disabled: boolean;
  created_at: Milliseconds;
  /** Oldest first. */
  secrets: SecretRecord[];
  /** Null if an operator registered it. There is one application at most of each document. */
  document: DocumentedClient | null;
  /** Whether it has no secret. Never changes. */
  public: boolean;
  /** The last time that it was enabled; null if it was never disabled. */
  enabled_at: Milliseconds | null;
  generations: Generations;
  /** How often all of its grants were revoked. */
  revocations: number;
}

/**
 * A link request and a code have the generation of their application in which they were made. So they
 * tell whether something of the application has ended since: see decision 58.
 */
export interface Generations {
  /** Raised whenever something ends. */
  now: number;
  /** Since the last disabling. Link requests and codes of an earlier generation are over. */
  disabled: number;
  /** A link request is over if what it asks for is there since a later generation. */
  redirect_uris: Since;
  scopes: Since;
}

/** Since which generation each name is there. */
export interface Since {
  named: [name: string, generation: number][];
  others: number;
}

/** The logo may have 8 KB, which would travel with each request. Only pages and operators see it. */
export type ApplicationAuthentication = Omit<ApplicationRecord, 'logo_uri'>;

export type ApplicationChanges = Partial<ApplicationMembers>;

export type ScopeRecord = Omit<Scope, 'object'>;

/** A server that grants can be for. */
export interface ResourceRecord {
  /** UUIDv7. */
  id: string;
  /** In the form of `resourceAddress`. Never changes. */
  resource: string;
  name: string;
  /** The scopes that can be asked for with it; null for every described one. */
  scopes: string[] | null;
  /** The scopes of a request that names none, within `scopes`; null for those of the application. */
  default_scopes: string[] | null;
  created_at: Milliseconds;
  /** Raised whenever a scope is taken away. Link requests of an earlier generation are over. */
  generation: number;
}

export type ResourceChanges = Partial<Pick<ResourceRecord, 'name' | 'scopes' | 'default_scopes'>>;

/** A credential of the operator. Only its last use ever changes. */
export interface KeyRecord extends SecretRecord {
  name: string;
  role: Role;
}

/** Set when the code is issued, and never changed. */
export interface CodeBinding {
  /** The browser was sent there with the code; null if the code was issued without one. */
  redirect_uri: Claimed<string> | null;
  /** Whether the authorization request named it. If so, the redemption has to name it too. */
  redirect_uri_given: boolean;
  /** RFC 7636, S256; null for none. */
  code_challenge: string | null;
  /** The address of the resource that the grant is for; null for none. */
  resource: string | null;
  /** The link request whose approval issued the code; null for none. */
  link_id: string | null;
}

/** What a consent page asks besides. */
export interface ChoiceQuestion {
  title: string;
  /** An option without a label shows its id. */
  options: { id: string; label?: string | undefined }[];
}

/** As it was when the link request was made. */
export type LinkedResource = Pick<ResourceRecord, 'id' | 'resource' | 'generation'>;

/** What a document said when the link request was made. */
export interface LinkedDocument
  extends DocumentedClient,
    Pick<ApplicationRecord, 'name' | 'homepage_uri' | 'policy_uri' | 'tos_uri'> {}

/** A client document that can be used without its server. */
export interface KeptDocument {
  document_uri: string;
  /** As JSON. */
  document: Claimed<string>;
  /** When it was fetched, or pinned. */
  kept_at: Milliseconds;
  /** Null while it is pinned. */
  kept_until: Milliseconds | null;
}

/** An authorization request that was accepted. */
export interface LinkRecord {
  /** UUIDv7, made at `/oauth/authorize`. It is also the id inside the link. */
  id: string;
  /** The hash of the latest link. */
  link_hash: CredentialHash;
  /** Null if it has a document, and no link of it was approved before. */
  application_id: string | null;
  /** Null if an operator registered the application. */
  document: LinkedDocument | null;
  /** As the browser will be sent to it, with the port of a loopback address. */
  redirect_uri: Claimed<string>;
  redirect_uri_given: boolean;
  /** Null for none. */
  resource: LinkedResource | null;
  scope: string;
  /** What the user may allow besides; null for nothing. */
  optional_scope: string | null;
  state: string | null;
  code_challenge: string | null;
  login_hint: string | null;
  ui_locales: string | null;
  /** 32 random bytes. With the random part of the deciding credential, they make the code. */
  salt: Uint8Array;
  /** Of its application, when the request was made. */
  generation: number;
  /** Of the ids of the descriptions of all that it asks for, in order, when the request was made. */
  description_hash: Uint8Array;
  /** It can be decided while now < this. It is deleted 3 hours later. */
  expires_at: Milliseconds;
  /** The account that was last identified or was approved; null before. */
  account_id: string | null;
  /** The latest consent page; null before. If the host has one of its own, there is no such page. */
  page_id: string | null;
  /** Whether the user has asked for another account since the last identification. */
  switched: boolean;
  /** Null while undecided. */
  decision: LinkDecision | null;
}

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

/** A page for one account. */
export interface PageRecord {
  /** UUIDv7. It is also the id inside its ticket and its session. */
  id: string;
  kind: 'consent' | 'connections';
  /** Null unless it is a consent page. */
  link_id: string | null;
  account_id: string;
  ticket_hash: CredentialHash;
  /** The ticket is first taken while now < this. */
  ticket_expires_at: Milliseconds;
  /** When the ticket was first taken; null before. */
  opened_at: Milliseconds | null;
  /** The hashes of its sessions, in hexadecimal, while none has come back; null after that. */
  waiting: readonly string[] | null;
  /** Of the session that has come back first; null before. */
  session_hash: CredentialHash | null;
  /** The session is valid while now < this. The page is deleted some time after. */
  expires_at: Milliseconds;
  return_url: string | null;
  locale: string | null;
  /** Null if nothing is asked besides. */
  choice: ChoiceQuestion | null;
}

/** The deletion of an application whose grants may not all be revoked yet. */
export interface DeletionRecord {
  application_id: string;
  deleted_at: Milliseconds;
  deleted_by: Initiator;
}

/** `revocation`: of all grants of an account, of an application, or of an account with an application. */
export type WorkKind = 'erasure' | 'deletion' | 'revocation';

/**
 * What a mark ends: each code and grant of its record with a lesser number. That is `account_revision` for an
 * account, and `application_revocations` for an application.
 */
export interface Ending {
  kind: WorkKind;
  before: number;
  at: Milliseconds;
  by: Initiator;
  /** Of an account: what it has with this application alone. */
  application_id?: string;
  /** Whether all that it ends is written down. It stays for a while, for calls that are under way. */
  is_done?: true;
}

/** What a mark has begun. Any process can go on with it. */
export interface Work extends Pick<Ending, 'kind' | 'before' | 'at' | 'by' | 'is_done'> {
  /** Null for all of an application. */
  account_id: string | null;
  /** Null for all of an account. */
  application_id: string | null;
}

/** A code that was not redeemed. */
export interface PendingRecord extends CodeBinding {
  /** UUIDv7, created at issue. */
  grant_id: string;
  application_id: string;
  scope: string;
  /** Of the application. That of the link request, if an approval issued the code. */
  generation: number;
  /** Of the application, when it was read for the issue. */
  application_revocations: number;
  /** As it was at issue. */
  account: AccountRecord;
  /** What the user chose; null for nothing. */
  choice: Choice | null;
  code_hash: CredentialHash;
  /** The code is valid while now < this. */
  code_expires_at: Milliseconds;
}

export interface ListedAccount {
  /** UUIDv7: sorts by when the account was first put. */
  place: string;
  account: CurrentAccount;
}

/** Replaces the names in snapshots of an erased account. */
export const ERASED = { username: 'erased', display_name: 'erased', twitter: null } as const;

/** A redeemed code. */
export interface GrantRecord {
  grant_id: string;
  application_id: string;
  /** The address of the resource that it is for; null for none. */
  resource: string | null;
  scope: string;
  /** What the user chose; null for nothing. */
  choice: Choice | null;
  /** As it was when the code was issued. */
  account: AccountRecord;
  /** When the code was redeemed. */
  created_at: Milliseconds;
  /** When its secret was last used, at most a day before the last use; null before the first. */
  last_used_at: Milliseconds | null;
  revoked_at: Milliseconds | null;
}

/** A grant without the account that it is of. */
export type ConnectedGrant = Omit<GrantRecord, 'account'>;

/** An application that an account has active grants of. */
export interface ConnectedApplication {
  application_id: string;
  /** What its name follows from. Null if it was deleted. */
  application: Pick<ApplicationRecord, 'name' | 'document' | 'redirect_uris'> | null;
}

/** The active grants of an account with one application. */
export interface ConnectionRecord {
  application: ApplicationRecord;
  /** At least one, newest first. */
  grants: ConnectedGrant[];
}

/** The part of a revoked grant that is kept for ever. */
export interface RevokedRecord {
  grant_id: string;
  application_id: string;
  created_at: Milliseconds;
  revoked_at: Milliseconds;
}

/** Shows why a code can't be redeemed. */
export interface CodeState extends CodeBinding {
  application_id: string;
  account_id: string;
  generation: number;
  code_hash: CredentialHash;
  redeemed: boolean;
}

/** A window begins with its first addition. */
export interface WindowCount {
  count: number;
  /** From then on the count starts again. */
  ends_at: Milliseconds;
}

export interface GrantAuthentication {
  /** Its scope is empty if only a {@link RevokedRecord} is left. */
  grant: Omit<GrantRecord, 'account'>;
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

/** Why a grant ended. */
export type EndReason = 'application' | 'user' | 'host' | StoredReason;

/** Stored, because who ended the grant does not tell it. */
export type StoredReason = 'account_erased' | 'application_deleted' | 'idle' | 'replaced';

/**
 * Each `_by` is null if the change was not made, or if only a {@link RevokedRecord} is left. The id
 * has the time of issue.
 */
export interface GrantHistory {
  grant_id: string;
  application_id: string;
  /** Null if only a {@link RevokedRecord} is left. */
  account_id: string | null;
  issued_by: Initiator | null;
  /** When the code was redeemed; null before. */
  created_at: Milliseconds | null;
  redeemed_by: Initiator | null;
  /** How many times the grant was recovered. The next two are of the last recovery. */
  recoveries: number;
  recovered_at: Milliseconds | null;
  recovered_by: Initiator | null;
  first_used_at: Milliseconds | null;
  first_used_by: Initiator | null;
  revoked_at: Milliseconds | null;
  /** Null if it ended by itself, too. */
  revoked_by: Initiator | null;
  /** Null if `revoked_by` tells it: see `endReason`. */
  revoked_reason: StoredReason | null;
}

export interface ListedHistory extends GrantHistory, Pick<CodeBinding, 'link_id'> {}

export interface CommandChange {
  /** UUIDv7: sorts by time. */
  id: string;
  at: Milliseconds;
  /** Of the log: see {@link LOG_COUNTER}. */
  number: number;
  operation: ActionName;
  os_user: string;
  request_id: string;
  ids: {
    application_id?: string;
    secret_id?: string;
    grant_id?: string;
    account_id?: string;
    link_id?: string;
    scope?: string;
    redirect_uris?: string;
    scopes?: string;
    resource_id?: string;
    key_id?: string;
    mark_number?: string;
  };
}

/** The key of the last number that a process or a command has taken for the log. */
export const LOG_COUNTER = 'log';

export interface RefusalRecord {
  /** UUIDv7: sorts by time. */
  id: string;
  at: Milliseconds;
  request_id: string;
  operation: ActionName;
  error_code: ErrorCode;
  /** The check that failed, if the error code has several; otherwise null. */
  reason: Reason | null;
  /** Null if the caller was not authenticated. The next three ids are unverified then. */
  by: Actor | null;
  application_id: string | null;
  /** The account that the call named, or that of its grant, link or page. */
  account_id: string | null;
  grant_id: string | null;
  /** Of the operator; null for every other caller, and for the secret. */
  key_id: string | null;
  address: string | null;
  /** The record is deleted some time after. */
  expires_at: Milliseconds;
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
export interface EndpointRecord {
  /** UUIDv7. */
  id: string;
  /** Null for the host's. */
  application_id: string | null;
  url: string;
  /** In the order of `eventTypes`; null for all that its kind is told. */
  types: EventType[] | null;
  /** Null if it is enabled. */
  disabled_reason: EndpointDisabledReason | null;
  created_at: Milliseconds;
  /** 1, and one more with each rotation. */
  secret_version: number;
  /** The secret of the version before signs too while now < this; null for none. */
  overlap_until: Milliseconds | null;
  last_success_at: Milliseconds | null;
  /** The beginning of the first try that failed since the last success; null if none did. */
  failing_since: Milliseconds | null;
  /** The tries that failed since then. */
  failures: number;
}

/** What a try needs of its endpoint. */
export type TriedEndpoint = Pick<
  EndpointRecord,
  'id' | 'application_id' | 'url' | 'secret_version' | 'overlap_until'
>;

/** One event for one endpoint. */
export interface DeliveryRecord {
  /** UUIDv7 of the time of the event, made of the event and the endpoint: see `deliveryId`. */
  id: string;
  endpoint_id: string;
  event_id: string;
  type: MessageType;
  grant_id: string | null;
  account_id: string | null;
  /** The message. Null once the account of an `account.updated` is erased. */
  body: string | null;
  status: DeliveryStatus;
  /** When the event happened. */
  created_at: Milliseconds;
  /** When it can be claimed: the time of its next try, or the end of its claim. Null unless it is pending. */
  due_at: Milliseconds | null;
  /** Of the try under way; null for none. */
  claim: string | null;
  /** The tries of the timetable so far. */
  tries: number;
  /** The last {@link ATTEMPTS_KEPT}, oldest first. */
  attempts: AttemptRecord[];
  /** Null while it is pending. It is deleted {@link DELIVERIES_KEPT} later. */
  ended_at: Milliseconds | null;
}

export interface AttemptRecord {
  at: Milliseconds;
  duration_ms: number;
  result: AttemptResult;
  status_code: number | null;
}

export const ATTEMPTS_KEPT = 10;
