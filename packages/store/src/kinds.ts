import type { Claimed } from '@latchkey/domain/claimed';
import type { ActionName, Actor } from '@latchkey/domain/initiator';
import { DELIVERIES_KEPT, LINKS_KEPT } from '@latchkey/domain/lifetimes';
import type { Reason } from '@latchkey/domain/reasons';
import type {
  Choice,
  DeliveryStatus,
  EndpointDisabledReason,
  ErrorCode,
  EventType,
  MessageType,
} from '@latchkey/schema';
import {
  by,
  bytes,
  claim,
  fixed,
  flag,
  id,
  initially,
  json,
  kind,
  number,
  once,
  optional,
  random,
  text,
  time,
} from './kind.ts';
import type {
  AccountRecord,
  AttemptRecord,
  ChoiceQuestion,
  CommandChange,
  DocumentedClient,
  Ending,
  Generations,
  KeyRecord,
  LinkedDocument,
  LinkedResource,
  ResourceRecord,
  ScopeRecord,
  SecretRecord,
  StoredReason,
} from './values.ts';

/**
 * Of the account, when the account was looked up. An erasure can go on after the account was put again: it spares
 * what has a later revision than the erased account.
 */
const account_revision = initially(number(), 0);

/** What a mark has ended: see decision 87. */
const marked = {
  /** The oldest one first. */
  endings: optional(json<readonly Ending[]>()),
  /** The time of the oldest one whose work is not done. */
  unfinished_since: optional(time()),
};

/** A code is a grant that is not redeemed yet: one record for both, so that one write redeems. */
export const grants = kind(
  'grants',
  {
    id: id(),
    application_id: fixed(id()),
    /** The next five are gone once REVOKED_GRANT_DAYS have passed since the revocation. */
    account_id: optional(id()),
    scope: optional(text()),
    /** As it was at the issue. */
    account: optional(json<AccountRecord>()),
    account_revision,
    /** What the user chose; null for nothing. Its label may be a name, so an erasure takes it. */
    choice: optional(json<Choice>()),
    code_hash: random(optional(bytes())),
    /** While it is pending: the code is valid while now < this. */
    code_expires_at: fixed(optional(time())),
    /** When the code was redeemed; null before. */
    created_at: once(optional(time())),
    /** While it is active. */
    secret_hash: random(optional(bytes())),
    /** When a request was first authenticated with its secret; null for never. */
    first_used_at: once(optional(time())),
    /** When its secret was last used, at most a day before the last use; null before the first. */
    last_used_at: optional(time()),
    revoked_at: once(optional(time())),
    /** The browser was sent there with the code; null if the code was issued without one. */
    redirect_uri: fixed(optional(claim())),
    /** Whether the authorization request named it. If so, the redemption has to name it too. */
    redirect_uri_given: fixed(initially(flag(), false)),
    /** RFC 7636, S256; null for none. */
    code_challenge: fixed(optional(text())),
    /** The address of the resource that it is for; null for none. */
    resource: fixed(optional(text())),
    /** The link request whose approval issued the code; null for none. */
    link_id: optional(id()),
    /** Of the application, when the code was issued. That of the link request, if an approval issued it. */
    generation: fixed(initially(number(), 0)),
    /** How often all grants of the application had been revoked when it was read for the issue. */
    application_revocations: fixed(initially(number(), 0)),
    issued_by: optional(by()),
    redeemed_by: once(optional(by())),
    first_used_by: once(optional(by())),
    /** How many times it was recovered. The next two are of the last recovery. */
    recoveries: initially(number(), 0),
    recovered_at: optional(time()),
    recovered_by: optional(by()),
    /** Null if it ended by itself, too. */
    revoked_by: once(optional(by())),
    /** Null if `revoked_by` tells it: see `endReason`. */
    revoked_reason: once(optional(text<StoredReason>())),
  },
  {
    key: 'id',
    indexes: {
      grants_by_account: { on: ['account_id', 'id'] },
      grants_by_application: { on: ['application_id', 'id'], where: { set: ['account_id'] } },
      unrevoked_by_account: {
        on: ['account_id', 'application_id', 'id'],
        where: { unset: ['revoked_at'] },
      },
      unrevoked_by_application: { on: ['application_id', 'id'], where: { unset: ['revoked_at'] } },
      codes_by_account: { on: ['account_id', 'id'], where: { set: ['code_expires_at'] } },
      /** For REVOKED_GRANT_DAYS. */
      revoked_with_details: {
        on: ['revoked_at'],
        where: { set: ['revoked_at', 'account_id'] },
        isOptional: true,
      },
    },
    /** A redemption clears it. */
    expiry: { at: 'code_expires_at' },
    /** Not the codes: two databases with one could both redeem it. */
    copied: { set: 'created_at' },
    isLong: true,
    events: { 'grant.created': 'created_at', 'grant.revoked': 'revoked_at' },
  },
);

/** An authorization request that was accepted. */
export const links = kind(
  'links',
  {
    /** UUIDv7, made at `/oauth/authorize`. It is also the id inside the link. */
    id: id(),
    /** Of the latest link. */
    link_hash: random(bytes()),
    /** Null if it has a document, and no link of it was approved before. */
    application_id: optional(id()),
    /** Null if an operator registered the application. */
    document: optional(json<LinkedDocument>()),
    /** As the browser will be sent to it, with the port of a loopback address. */
    redirect_uri: claim(),
    redirect_uri_given: initially(flag(), false),
    resource: optional(json<LinkedResource>()),
    scope: text(),
    /** What the user may allow besides; null for nothing. */
    optional_scope: optional(text()),
    state: optional(text()),
    code_challenge: optional(text()),
    login_hint: optional(text()),
    ui_locales: optional(text()),
    /** 32 random bytes. With the random part of the deciding credential, they make the code. */
    salt: bytes(),
    /** Of its application, when the request was made. */
    generation: initially(number(), 0),
    /** Of the ids of the descriptions of all that it asks for, in order, when the request was made. */
    description_hash: bytes(),
    /** It can be decided while now < this. It is deleted 3 hours later. */
    expires_at: fixed(time()),
    /** The account that was last identified or was approved; null before. */
    account_id: optional(id()),
    account_revision,
    /** The latest consent page; null before. If the host has one of its own, there is no such page. */
    page_id: random(optional(id())),
    /** Whether the user has asked for another account since the last identification. */
    switched: initially(flag(), false),
    /** The next six are the decision. */
    status: once(optional(text<'approved' | 'denied'>())),
    decided_by: once(optional(id())),
    grant_id: once(optional(id())),
    granted_scope: once(optional(text())),
    choice: once(optional(json<Choice>())),
    decided_at: once(optional(time())),
    begin_initiator: optional(by()),
    identify_initiator: optional(by()),
    switch_initiator: optional(by()),
    decide_initiator: once(optional(by())),
  },
  {
    key: 'id',
    internal: [
      'account_revision',
      'begin_initiator',
      'identify_initiator',
      'switch_initiator',
      'decide_initiator',
    ],
    indexes: { links_by_account: { on: ['account_id'], where: { set: ['account_id'] } } },
    expiry: { at: 'expires_at', kept: LINKS_KEPT },
    isLong: true,
  },
);

export const pages = kind(
  'pages',
  {
    /** UUIDv7. It is also the id inside its ticket and its session. */
    id: id(),
    kind: text<'consent' | 'connections'>(),
    /** Null unless it is a consent page. */
    link_id: optional(id()),
    account_id: id(),
    /** Of the account, at the creation. */
    sign_outs: initially(number(), 0),
    account_revision,
    ticket_hash: fixed(bytes()),
    /** The ticket is first taken while now < this. */
    ticket_expires_at: fixed(time()),
    /** When the ticket was first taken; null before. */
    opened_at: once(optional(time())),
    /** The hashes of its sessions, as text, while none has come back; null after that. */
    waiting: optional(json<readonly string[]>()),
    /** Of the session that has come back first; null before. */
    session_hash: once(optional(bytes())),
    /** The session is valid while now < this. The page is deleted some time after. */
    expires_at: time(),
    return_url: optional(text()),
    locale: optional(text()),
    /** Null if nothing is asked besides. */
    choice: optional(json<ChoiceQuestion>()),
    create_initiator: optional(by()),
    open_initiator: once(optional(by())),
  },
  {
    key: 'id',
    internal: ['sign_outs', 'account_revision', 'create_initiator', 'open_initiator'],
    indexes: { pages_by_account: { on: ['account_id'] } },
    expiry: { at: 'expires_at', kept: LINKS_KEPT },
    isLong: true,
  },
);

export const refusals = kind(
  'refusals',
  {
    /** UUIDv7: sorts by time. */
    id: id(),
    at: time(),
    request_id: text(),
    operation: text<ActionName>(),
    error_code: text<ErrorCode>(),
    /** The check that failed, if the error code has several; otherwise null. */
    reason: optional(text<Reason>()),
    called_by: optional(text<Actor>()),
    application_id: optional(id()),
    /** The account that the call named, or that of its grant, link or page. */
    account_id: optional(id()),
    grant_id: optional(id()),
    /** Of the operator; null for every other caller, and for the secret. */
    key_id: optional(id()),
    address: optional(text()),
    /** The record is deleted some time after. */
    expires_at: time(),
  },
  {
    key: 'id',
    indexes: {
      refusals_by_request: { on: ['request_id', 'id'] },
      refusals_by_application: { on: ['application_id', 'id'], where: { set: ['application_id'] } },
      refusals_by_account: { on: ['account_id', 'id'], where: { set: ['account_id'] } },
      refusals_by_grant: { on: ['grant_id', 'id'], where: { set: ['grant_id'] } },
    },
    expiry: { at: 'expires_at' },
  },
);

export const commandChanges = kind(
  'command_changes',
  { id: id(), change: json<Omit<CommandChange, 'id'>>() },
  { key: 'id', copied: 'all' },
);

export const logCounter = kind(
  'log_counter',
  { name: text(), number: number() },
  { key: 'name', copied: 'all' },
);

export const scopes = kind(
  'scopes',
  {
    scope: text(),
    /** A deleted description stays, so that a late command finds its revision raised. */
    deleted_at: optional(time()),
    /** Another one after a deletion. */
    description_id: id(),
    sensitive: flag(),
    title: text(),
    description: optional(text()),
    texts: json<ScopeRecord['texts']>(),
  },
  { key: 'scope', copied: 'all' },
);

/** One record has all, so nothing comes between the check of a change and its write: see decision 64. */
const inOne = <T>(name: string) =>
  kind(name, { name: text(), list: json<readonly T[]>() }, { key: 'name', copied: 'all' });
export type InOne<T> = ReturnType<typeof inOne<T>>;

export const resources = inOne<ResourceRecord>('resources');
export const keys = inOne<KeyRecord>('keys');

export const applications = kind(
  'applications',
  {
    /** UUIDv7: sorts by creation. */
    id: id(),
    /** A deleted application stays, so that a late command finds its id taken and its revision raised. */
    deleted_at: optional(time()),
    deleted_by: optional(by()),
    /** How often all of its grants were revoked: see decision 87. */
    revocations: initially(number(), 0),
    ...marked,
    document_uri: optional(text()),
    name: claim(),
    disabled: flag(),
    created_at: time(),
    /** Oldest first. */
    secrets: json<SecretRecord[]>(),
    /**
     * As they were written, since they are compared exactly. Of an application with a document, those of its approvals:
     * nothing is compared with them.
     */
    redirect_uris: json<Claimed<string>[]>(),
    /** The scopes that it may ask for; null for every described one. */
    scopes: optional(json<string[]>()),
    /** The scopes of a request that names none; null for none. */
    default_scopes: optional(json<string[]>()),
    /** Whether it has no secret. Never changes. */
    public: flag(),
    /** Whether it may introspect the grants of every application. */
    resource_server: flag(),
    /** Whether each authorization request needs a challenge. */
    challenge_required: flag(),
    /** Days after which an unused grant ends; null for never. */
    idle_days: optional(number()),
    /** How many grants of one account stay after a conversion; null for all. */
    grants_per_account: optional(number()),
    /** The last time that it was enabled; null if it was never disabled. */
    enabled_at: optional(time()),
    generations: json<Generations>(),
    /** Null if an operator registered it. There is one application at most of each document. */
    document: optional(json<DocumentedClient>()),
    homepage_uri: optional(text()),
    policy_uri: optional(text()),
    tos_uri: optional(text()),
    /** The last one, since it may have 8 KB, and few read it. */
    logo_uri: optional(text()),
  },
  {
    key: 'id',
    internal: ['deleted_at', 'deleted_by', 'endings', 'unfinished_since', 'document_uri'],
    indexes: {
      listed_applications: { on: ['deleted_at', 'id'], where: { unset: ['deleted_at'] } },
      documented_applications: {
        on: ['deleted_at', 'id'],
        where: { set: ['document'], unset: ['deleted_at'] },
      },
      registered_applications: {
        on: ['document', 'id'],
        where: { unset: ['document', 'deleted_at'] },
      },
      unfinished_applications: {
        on: ['unfinished_since'],
        where: { set: ['unfinished_since'] },
      },
    },
    copied: 'all',
  },
);

/** Of which application a document is. No index is unique on MongoDB, so its key makes sure that there is one. */
export const clientDocuments = kind(
  'client_documents',
  {
    /** SHA-256 of the address of the document. */
    address: text(),
    application_id: id(),
  },
  { key: 'address', copied: 'all' },
);

/** Of client documents: the last good one of an application, until its time is over, and those that are pinned. */
export const keptDocuments = kind(
  'kept_documents',
  {
    document_uri: text(),
    /** As JSON. It is read anew each time, since what counts of it is up to the settings. */
    document: claim(),
    /** When it was fetched, or pinned. */
    kept_at: time(),
    /** Null while it is pinned. */
    kept_until: optional(time()),
  },
  {
    key: 'document_uri',
    indexes: {
      pinned_documents: { on: ['kept_until', 'document_uri'], where: { unset: ['kept_until'] } },
    },
    expiry: { at: 'kept_until' },
    copied: 'all',
    isLong: true,
  },
);

export const accounts = kind(
  'accounts',
  {
    id: id(),
    /** A UUIDv7 of the first put, since the id of an account has no time. Not set while it is erased, like the next three. */
    place: optional(id()),
    /** As it is copied to a grant. */
    account: optional(json<AccountRecord>()),
    /** That of the account, for the list. */
    username: optional(text()),
    external_id: optional(text()),
    /** How often its pages were ended. */
    sign_outs: initially(number(), 0),
    /** Raised by each change. */
    revision: initially(number(), 0),
    /** An erased account stays: a command that arrives late finds its revision raised. */
    erased_at: optional(time()),
    erased_by: optional(by()),
    /** Its grants up to this id have no names any more. */
    erased_until: optional(id()),
    ...marked,
  },
  {
    key: 'id',
    indexes: {
      unfinished_accounts: { on: ['unfinished_since'], where: { set: ['unfinished_since'] } },
      accounts_by_place: { on: ['place'], where: { set: ['place'] } },
      accounts_by_username: { on: ['username', 'place'], where: { set: ['place'] } },
      accounts_by_external_id: { on: ['external_id', 'place'], where: { set: ['external_id'] } },
    },
    copied: 'all',
  },
);

/** It is there as long as its owner has it, so that not even concurrent calls exceed their number. */
export const endpoints = kind(
  'endpoints',
  {
    /** UUIDv7. */
    id: id(),
    /** See `endpointOwners`. */
    owner: fixed(id()),
    url: text(),
    /** In the order of `eventTypes`; null for all that its kind is told. */
    types: optional(json<EventType[]>()),
    /** Null if it is enabled. */
    disabled_reason: optional(text<EndpointDisabledReason>()),
    created_at: time(),
    /** 1, and one more with each rotation. */
    secret_version: number(),
    /** The secret of the version before signs too while now < this; null for none. */
    overlap_until: optional(time()),
    last_success_at: optional(time()),
    /** The beginning of the first try that failed since the last success; null if none did. */
    failing_since: optional(time()),
    /** The tries that failed since then. */
    failures: initially(number(), 0),
    /** Raised when it is disabled: what is pending by then is not told any more. */
    generation: initially(number(), 0),
  },
  {
    key: 'id',
    indexes: { failing_endpoints: { on: ['failing_since'], where: { set: ['failing_since'] } } },
    copied: 'all',
  },
);

export const endpointOwners = kind(
  'endpoint_owners',
  {
    /** An application, or `HOST_OWNER`. */
    owner: id(),
    /** Of its endpoints. */
    ids: json<readonly string[]>(),
  },
  { key: 'owner', copied: 'all' },
);

export const deliveries = kind(
  'deliveries',
  {
    /** UUIDv7 of the time of the event, made of the event and the endpoint: see `deliveryId`. */
    id: id(),
    endpoint_id: fixed(id()),
    event_id: id(),
    type: fixed(text<MessageType>()),
    grant_id: optional(id()),
    account_id: optional(id()),
    account_revision,
    /** The account whose names the body has, or is to have. */
    names_of: optional(id()),
    /** The application that they are for. Null for the host. */
    names_for: fixed(optional(id())),
    /** The message. Null once the account of an `account.updated` is erased. */
    body: optional(text()),
    /** Whether its grant had a choice, which a try reads there: the body kept here has none, so it names nobody. */
    has_choice: initially(flag(), false),
    status: text<DeliveryStatus>(),
    /** When the event happened. */
    created_at: time(),
    /** When it can be claimed: the time of its next try, or the end of its claim. Null unless it is pending. */
    due_at: optional(time()),
    /** Of the try under way; null for none. */
    claim: random(optional(text())),
    /** The tries of the timetable so far. */
    tries: initially(number(), 0),
    /** The last {@link ATTEMPTS_KEPT}, oldest first. */
    attempts: json<AttemptRecord[]>(),
    /** Null while it is pending. It is deleted {@link DELIVERIES_KEPT} later. */
    ended_at: optional(time()),
    /** Of the endpoint, when the timetable began. */
    generation: initially(number(), 0),
    /** Of the retry or the replay that has begun the timetable anew. */
    round: random(optional(id())),
  },
  {
    key: 'id',
    internal: ['account_revision', 'names_of', 'names_for', 'has_choice', 'generation', 'round'],
    indexes: {
      deliveries_due: { on: ['endpoint_id', 'due_at'], where: { set: ['due_at'] } },
      deliveries_by_endpoint: { on: ['endpoint_id', 'status', 'id'] },
      deliveries_by_grant: { on: ['grant_id', 'id'], where: { set: ['grant_id'] } },
      deliveries_with_names: { on: ['names_of', 'names_for'], where: { set: ['names_of'] } },
    },
    expiry: { at: 'ended_at', kept: DELIVERIES_KEPT },
    copied: { set: 'due_at' },
    isLong: true,
  },
);

/** Who works at something that several processes could do. It saves work, and decides nothing. */
export const leases = kind(
  'leases',
  { name: text(), holder: text(), until: time() },
  { key: 'name', expiry: { at: 'until' } },
);
