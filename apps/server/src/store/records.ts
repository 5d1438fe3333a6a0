import type { Account, ErrorCode, OperationName } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import type { Actor, Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';

/** SHA-256 of a credential, 32 bytes: all of it that is ever at rest. */
export type CredentialHash = Uint8Array;

/** An account, as the wire has it. */
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
}

/** A code that nobody has exchanged: a grant to be. */
export interface PendingRecord {
  /** UUIDv7, made at issue. */
  grant_id: string;
  application_id: string;
  scope: string;
  /** The account as it was at issue. */
  account: AccountRecord;
  code_hash: CredentialHash;
  /** The code is good while now < this. */
  code_expires_at: Milliseconds;
}

/** A grant: a code that was exchanged. */
export interface GrantRecord {
  grant_id: string;
  application_id: string;
  scope: string;
  /** The account as it was when the code was issued. */
  account: AccountRecord;
  /** When the code was exchanged. */
  created_at: Milliseconds;
  revoked_at: Milliseconds | null;
}

/** What became of a code, to tell why it can't be exchanged. */
export interface CodeState {
  application_id: string;
  code_hash: CredentialHash;
  exchanged: boolean;
}

/** How often something happened within a window of time that began with the first. */
export interface WindowCount {
  count: number;
  /** From then on the count starts anew. */
  ends_at: Milliseconds;
}

/** All that a request with a grant's secret needs, from one round trip. */
export interface GrantAuthentication {
  grant: Omit<GrantRecord, 'account'>;
  /** Null once the grant is revoked. */
  secret_hash: CredentialHash | null;
  /** When a request was first authenticated with the grant's secret; null for never. */
  first_used_at: Milliseconds | null;
  application_disabled: boolean;
  /** As it is now, where that was asked for, and null where it is gone; else as it was at issue. */
  account: AccountRecord | null;
}

/**
 * What became of a grant, from the issue of its code on; its id has the time of that. Each `_by` is
 * null where it has not happened, or the record is from before such marks were made.
 */
export interface GrantHistory {
  grant_id: string;
  application_id: string;
  account_id: string;
  issued_by: Origin | null;
  /** When the code was exchanged; null while it is not. */
  created_at: Milliseconds | null;
  exchanged_by: Origin | null;
  /** How often the grant was recovered; the two below are of the last time. */
  recoveries: number;
  recovered_at: Milliseconds | null;
  recovered_by: Origin | null;
  first_used_at: Milliseconds | null;
  first_used_by: Origin | null;
  revoked_at: Milliseconds | null;
  revoked_by: Origin | null;
}

/** A call of an operation that was refused, or failed. */
export interface RefusalRecord {
  /** UUIDv7: their order is the order of the refusals. */
  id: string;
  at: Milliseconds;
  request_id: string;
  operation: OperationName;
  error_code: ErrorCode;
  /** Which of the checks behind the code failed; null where the code has only one. */
  reason: Reason | null;
  /** Null where the caller was not authenticated; then the two ids are only what it claims. */
  by: Actor | null;
  application_id: string | null;
  grant_id: string | null;
  address: string | null;
  /** Deleted from then on. */
  expires_at: Milliseconds;
}
