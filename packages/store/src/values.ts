import type { Claimed } from '@latchkey/domain/claimed';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { CredentialHash } from '@latchkey/domain/credentials/credentials';
import type { ActionName, Initiator } from '@latchkey/domain/initiator';
import type { Account, AttemptResult, Role, Scope } from '@latchkey/schema';

// What a field has that is more than one value: see `json` in kind.ts.

export type { CredentialHash };

export type AccountRecord = Omit<Account, 'object'>;

export interface SecretRecord {
  id: string;
  /** See `textOfHash`. */
  hash: string;
  hint: string;
  created_at: Milliseconds;
  expires_at: Milliseconds | null;
  last_used_at: Milliseconds | null;
}

/** A credential of the operator. Only its last use ever changes. */
export interface KeyRecord extends SecretRecord {
  name: string;
  role: Role;
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

/** What a document said when the link request was made. */
export interface LinkedDocument extends DocumentedClient {
  name: Claimed<string>;
  homepage_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
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

/** As it was when the link request was made. */
export type LinkedResource = Pick<ResourceRecord, 'id' | 'resource' | 'generation'>;

/** What a consent page asks besides. */
export interface ChoiceQuestion {
  title: string;
  /** An option without a label shows its id. */
  options: { id: string; label?: string | undefined }[];
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

/** Stored, because who ended the grant does not tell it. */
export type StoredReason = 'account_erased' | 'application_deleted' | 'idle' | 'replaced';

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
    /** The name of its description. */
    scope?: string;
    /** What the application has after the change: see `name-marks.ts`. */
    redirect_uris?: string;
    scopes?: string;
    resource_id?: string;
    /** The key of the caller. For a change of a key, which needs ADMIN_SECRET, the changed key. */
    key_id?: string;
    /** Of the mark that ended something, as a decimal: a restore sets the same one. */
    mark_number?: string;
  };
}

export interface AttemptRecord {
  at: Milliseconds;
  duration_ms: number;
  result: AttemptResult;
  status_code: number | null;
}
