import type { Account, ErrorCode, Scope } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import type { CredentialHash } from '../credentials/credentials.ts';
import type { ActionName, Actor, Initiator } from '../initiator.ts';
import type { Reason } from '../reasons.ts';

export type { CredentialHash };

/** An account, with the members that it has on the wire. */
export type AccountRecord = Omit<Account, 'object'>;

/** One secret of an application. */
export interface SecretRecord {
  id: string;
  hash: CredentialHash;
  hint: string;
  created_at: Milliseconds;
  expires_at: Milliseconds | null;
  last_used_at: Milliseconds | null;
}

/** An application with its secrets, oldest first. */
export interface ApplicationRecord {
  /** UUIDv7: their order is the order of creation. */
  id: string;
  name: string;
  disabled: boolean;
  created_at: Milliseconds;
  secrets: SecretRecord[];
  /** As they were written: they are compared to the letter. */
  redirect_uris: string[];
  /** The scopes it may ask for; null for every described one. */
  scopes: string[] | null;
  logo_uri: string | null;
  homepage_uri: string | null;
  /** Whether it has no secret. Never changes. */
  public: boolean;
  /** Whether it may introspect the grants of every application. */
  resource_server: boolean;
}

/** What an operator can change of an application. */
export type ApplicationChanges = Partial<
  Pick<
    ApplicationRecord,
    'name' | 'redirect_uris' | 'scopes' | 'logo_uri' | 'homepage_uri' | 'resource_server'
  >
>;

/** A scope in words, with the members that it has on the wire. */
export type ScopeRecord = Omit<Scope, 'object'>;

/** What a code is bound to. It is set at its issue and never changes. */
export interface CodeBinding {
  /** Where the browser was sent with it; null if the code was issued without one. */
  redirect_uri: string | null;
  /**
   * Whether the authorization request named the redirect URI: then the redemption has to as well. False
   * if there is none.
   */
  redirect_uri_given: boolean;
  /** RFC 7636, S256; null for none. */
  code_challenge: string | null;
  /** The link request whose approval issued it; null for none. */
  link_id: string | null;
}

/** An authorization request that was accepted. */
export interface LinkRecord {
  /** UUIDv7, made at `/oauth/authorize`. It is also the id inside the link. */
  id: string;
  /** The hash of the latest link. */
  link_hash: CredentialHash;
  application_id: string;
  /** As the browser will be sent to it, with the port of a loopback address. */
  redirect_uri: string;
  redirect_uri_given: boolean;
  scope: string;
  state: string | null;
  code_challenge: string | null;
  login_hint: string | null;
  ui_locales: string | null;
  /** 32 random bytes. With the random part of what decides, they make the code. */
  salt: Uint8Array;
  /** It can be decided while now < this. It is deleted 3 hours later. */
  expires_at: Milliseconds;
  /** The account that was identified last, or that was approved; null before. */
  account_id: string | null;
  /** The latest consent page; null without one. */
  page_id: string | null;
  /** Null while it is undecided. */
  decision: LinkDecision | null;
}

/** A decision about a link request. It is made once. */
export interface LinkDecision {
  status: 'approved' | 'denied';
  /** The id of the link request if the host decided, or of the page. */
  decided_by: string;
  /** Null if it was denied. */
  grant_id: string | null;
  /** What was granted; null if it was denied. */
  scope: string | null;
}

/** A page for one account. */
export interface PageRecord {
  /** UUIDv7. It is also the id inside its ticket and its session. */
  id: string;
  kind: 'consent' | 'connections';
  /** The link request that a consent page is about; null for others. */
  link_id: string | null;
  account_id: string;
  ticket_hash: CredentialHash;
  /** The ticket opens the page while now < this. */
  ticket_expires_at: Milliseconds;
  /** The hash of the session that opened it; null before. */
  session_hash: CredentialHash | null;
  /** The session is good while now < this. It is deleted some time after. */
  expires_at: Milliseconds;
  return_url: string | null;
  locale: string | null;
}

/** The deletion of an application whose grants may not all be revoked yet. */
export interface DeletionRecord {
  application_id: string;
  deleted_at: Milliseconds;
  deleted_by: Initiator;
}

/** A code that was not redeemed. */
export interface PendingRecord extends CodeBinding {
  /** UUIDv7, created at issue. */
  grant_id: string;
  application_id: string;
  scope: string;
  /** The account as it was at issue. */
  account: AccountRecord;
  code_hash: CredentialHash;
  /** The code is valid while now < this. */
  code_expires_at: Milliseconds;
}

/** An account in the list of accounts. */
export interface ListedAccount {
  /** UUIDv7: their order is the order in which the accounts were first put. */
  place: string;
  account: AccountRecord;
}

/** What an account record becomes in the snapshots once the account is erased. */
export const ERASED = { username: 'erased', display_name: 'erased', twitter: null } as const;

/** A grant: a code that was redeemed. */
export interface GrantRecord {
  grant_id: string;
  application_id: string;
  scope: string;
  /** The account as it was when the code was issued. */
  account: AccountRecord;
  /** When the code was redeemed. */
  created_at: Milliseconds;
  revoked_at: Milliseconds | null;
}

/** What is known of a revoked grant for ever. */
export interface RevokedRecord {
  grant_id: string;
  application_id: string;
  created_at: Milliseconds;
  revoked_at: Milliseconds;
}

/** The state of a code, to tell why it can't be redeemed. */
export interface CodeState extends CodeBinding {
  application_id: string;
  code_hash: CredentialHash;
  redeemed: boolean;
}

/** A count within a window of time that began with its first addition. */
export interface WindowCount {
  count: number;
  /** From then on the count starts again. */
  ends_at: Milliseconds;
}

/** What a request with a grant's secret needs. */
export interface GrantAuthentication {
  /** Its scope is empty if only a {@link RevokedRecord} is left. */
  grant: Omit<GrantRecord, 'account'>;
  /** Null once the grant is revoked. */
  secret_hash: CredentialHash | null;
  /** When a request was first authenticated with the grant's secret; null for never. */
  first_used_at: Milliseconds | null;
  /** Null if there is no such application, such as one that was deleted. */
  application_disabled: boolean | null;
  /** The current account if it was asked for, null if it is gone; otherwise as it was at issue. */
  account: AccountRecord | null;
}

/**
 * The history of a grant. Its id has the time of the issue. Each `_by` is null if the change was not
 * made, or if only a {@link RevokedRecord} is left.
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
  /** How often the grant was recovered; the next two are of the last time. */
  recoveries: number;
  recovered_at: Milliseconds | null;
  recovered_by: Initiator | null;
  first_used_at: Milliseconds | null;
  first_used_by: Initiator | null;
  revoked_at: Milliseconds | null;
  revoked_by: Initiator | null;
}

/** A change that was made on the command line. */
export interface CommandChange {
  /** UUIDv7: their order is the order of the changes. */
  id: string;
  at: Milliseconds;
  operation: ActionName;
  os_user: string;
  request_id: string;
  /** What it was about, as far as known. */
  ids: {
    application_id?: string;
    secret_id?: string;
    grant_id?: string;
    account_id?: string;
    link_id?: string;
  };
}

/** A call of an operation that was refused or failed. */
export interface RefusalRecord {
  /** UUIDv7: their order is the order of the refusals. */
  id: string;
  at: Milliseconds;
  request_id: string;
  operation: ActionName;
  error_code: ErrorCode;
  /** Which check failed, if the code has several; null if it has one. */
  reason: Reason | null;
  /** Null if the caller was not authenticated; then the two ids are only claims. */
  by: Actor | null;
  application_id: string | null;
  grant_id: string | null;
  address: string | null;
  /** It is deleted some time after. */
  expires_at: Milliseconds;
}
