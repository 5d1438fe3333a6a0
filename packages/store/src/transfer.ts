import type { Milliseconds } from '@latchkey/domain/clock';
import type { Initiator } from '@latchkey/domain/initiator';
import {
  type AccountRecord,
  type ApplicationRecord,
  type CodeBinding,
  type CommandChange,
  type CredentialHash,
  type DeletionRecord,
  type DeliveryRecord,
  type EndpointRecord,
  ERASED,
  type GrantHistory,
  type KeyRecord,
  type ListedAccount,
  type LogCounterRecord,
  type ResourceRecord,
  type ScopeRecord,
} from './records.ts';
import type { UseMark, UseMarks } from './use-mark.ts';

/** All that a store has of a grant. */
export interface StoredGrant extends GrantHistory, CodeBinding {
  created_at: Milliseconds;
  secret_hash: CredentialHash | null;
  last_used_at: Milliseconds | null;
  /** With its account and its code, null once a revocation is old: see REVOKED_GRANT_DAYS. */
  scope: string | null;
  /** As it was when the code was issued. */
  account: AccountRecord | null;
  code_hash: CredentialHash | null;
}

/** All that a store has of an endpoint. */
export interface StoredEndpoint extends EndpointRecord {
  /** Whether its application is deleted: it is told of the ends of its grants, and found by nobody. */
  hidden: boolean;
}

/**
 * What a copy brings. Codes that were not redeemed are no part of it: two databases with one code could
 * both redeem it. Link requests and pages are none, since they end in a code.
 */
export interface CopiedRecords {
  scopes: ScopeRecord;
  resources: ResourceRecord;
  keys: KeyRecord;
  applications: ApplicationRecord;
  deletions: DeletionRecord;
  accounts: ListedAccount;
  grants: StoredGrant;
  endpoints: StoredEndpoint;
  /** Those that are pending. */
  deliveries: DeliveryRecord;
  command_changes: CommandChange;
  log_counter: LogCounterRecord;
}

export type CopiedKind = keyof CopiedRecords;

/** What tells the records of a kind apart, and orders them. */
export const keyOf: { [Kind in CopiedKind]: (record: CopiedRecords[Kind]) => string } = {
  scopes: ({ scope }) => scope,
  resources: ({ id }) => id,
  keys: ({ id }) => id,
  applications: ({ id }) => id,
  deletions: ({ application_id }) => application_id,
  accounts: ({ account }) => account.id,
  grants: ({ grant_id }) => grant_id,
  endpoints: ({ id }) => id,
  deliveries: ({ id }) => id,
  command_changes: ({ id }) => id,
  log_counter: ({ name }) => name,
};

export const copiedKinds = Object.keys(keyOf) as CopiedKind[];

/**
 * An erasure that is under way, or was interrupted, has not come to all grants of its account. To every
 * request they are revoked.
 */
export function erasedGrant(
  grant: StoredGrant,
  erased: { at: Milliseconds; by: Initiator | null },
): StoredGrant {
  const account = grant.account && { ...grant.account, ...ERASED };
  if (grant.revoked_at !== null) return { ...grant, account };
  const revoked = { revoked_at: erased.at, revoked_by: erased.by } as const;
  return { ...grant, account, ...revoked, revoked_reason: 'account_erased', secret_hash: null };
}

export interface Page {
  after: string | null;
  limit: number;
}

/** What a copy needs of each of its two databases. */
export interface Transfer extends UseMarks {
  /** For messages, without credentials. */
  readonly name: string;

  /** The first records after a key, or of all, in the order of their keys. */
  read<Kind extends CopiedKind>(kind: Kind, page: Page): Promise<CopiedRecords[Kind][]>;

  /**
   * Replaces the record with the same key by each of these, and removes records. On MongoDB without a
   * replica set, the mark is looked at just before.
   *
   * @returns false if the mark is another one, and nothing was changed
   */
  write<Kind extends CopiedKind>(
    kind: Kind,
    changes: { records: readonly CopiedRecords[Kind][]; removed?: readonly string[] },
    mark: UseMark,
  ): Promise<boolean>;

  /** Makes deliveries of all events that were recorded, since a copy does not bring those. */
  makeDeliveries(now: Milliseconds): Promise<void>;

  /**
   * Changes if a service works on the database. Always null where that is not known, or where the last copy
   * has locked it.
   */
  activity(): Promise<number | null>;

  /** About how many grants there are. */
  estimateGrants(): Promise<number>;

  close(): Promise<void>;
}
