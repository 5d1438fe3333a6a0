import type { Account } from '../../../packages/schema/src/index.ts';

export type AccountRecord = Omit<Account, 'object'>;

export interface ApplicationRecord {
  id: string;
  name: string;
  disabled: boolean;
  secret_hash: Uint8Array;
}

/** A code that was not redeemed yet. */
export interface CodeRecord {
  grant_id: string;
  application_id: string;
  scope: string;
  account: AccountRecord;
  code_hash: Uint8Array;
  code_expires_at: number;
}

export interface GrantRecord {
  grant_id: string;
  application_id: string;
  scope: string;
  account: AccountRecord;
  created_at: number;
  revoked_at: number | null;
}

/** What a request with a grant's secret needs, in one round trip. */
export interface GrantAuthentication {
  grant: GrantRecord;
  /** Null once the grant is revoked. */
  secret_hash: Uint8Array | null;
  first_used_at: number | null;
  application_disabled: boolean;
  /** As it is now; null if it is gone. */
  account: AccountRecord | null;
}

export interface Redemption {
  grant_id: string;
  application_id: string;
  code_hash: Uint8Array;
  secret_hash: Uint8Array;
  now: number;
}

type MaybePromise<T> = T | Promise<T>;

/** The storage that the bare rules need. */
export interface Records {
  createApplication(application: ApplicationRecord): MaybePromise<void>;
  putAccount(account: AccountRecord): MaybePromise<void>;
  findApplication(id: string): MaybePromise<ApplicationRecord | null>;
  issueCode(code: CodeRecord): MaybePromise<void>;
  redeemCode(redemption: Redemption): MaybePromise<GrantRecord | null>;
  authenticateGrant(grant_id: string): MaybePromise<GrantAuthentication | null>;
  /** Returns false if the grant was revoked meanwhile. */
  noteFirstUse(use: {
    grant_id: string;
    secret_hash: Uint8Array;
    now: number;
  }): MaybePromise<boolean>;
  revokeGrant(revocation: {
    grant_id: string;
    application_id: string;
    now: number;
  }): MaybePromise<GrantRecord | null>;
}
