import type { Milliseconds } from '../clock.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeBinding,
  CredentialHash,
  GrantHistory,
  ListedAccount,
  ScopeRecord,
} from './records.ts';

/** All that a store has of a grant. */
export interface StoredGrant extends Omit<GrantHistory, 'account_id' | 'created_at'> {
  created_at: Milliseconds;
  secret_hash: CredentialHash | null;
  /** What is known until a revocation is old: see REVOKED_GRANT_DAYS. */
  details: GrantDetails | null;
}

export interface GrantDetails extends CodeBinding {
  scope: string;
  /** The account as it was when the code was issued. */
  account: AccountRecord;
  code_hash: CredentialHash;
}

/** All that a store has of a scope. */
export interface StoredScope extends ScopeRecord {
  /** When it was first described, or described again after a deletion. */
  described_at: Milliseconds;
}

export interface RecordCounts {
  scopes: number;
  applications: number;
  accounts: number;
  grants: number;
}

/** A copy into this database. */
export interface EarlierCopy {
  source: string;
  /** Whether one was completed. From then on, the target may be in use. */
  completed: boolean;
}

/** A page in the order of the ids: the records after an id, or the first ones. */
export interface ExportPage {
  after: string | null;
  limit: number;
}

/**
 * What a copy between two databases needs of each. Codes that were not redeemed are no part of it:
 * two databases with one code could both redeem it. Link requests and pages are none, since they end
 * in a code. Deleted scopes and applications and erased accounts are none either.
 */
export interface Transfer {
  /** Without credentials. The same for the same database. */
  readonly name: string;

  /** All of them: there are few. */
  exportScopes(): Promise<StoredScope[]>;
  exportApplications(page: ExportPage): Promise<ApplicationRecord[]>;
  /** In the order of their own ids, not of their places. */
  exportAccounts(page: ExportPage): Promise<ListedAccount[]>;
  exportGrants(page: ExportPage): Promise<StoredGrant[]>;

  /**
   * Each of these inserts what is missing, and changes what the rule of its kind says. A scope, an
   * application, a secret or an account that an earlier copy has brought, and that is missing, was
   * removed here: it is not inserted again. Idempotent.
   *
   * @param completed - see {@link EarlierCopy.completed}
   */
  importScopes(records: StoredScope[], completed: boolean): Promise<void>;
  importApplications(records: ApplicationRecord[], completed: boolean): Promise<void>;
  importAccounts(records: ListedAccount[], completed: boolean): Promise<void>;
  importGrants(records: StoredGrant[]): Promise<void>;

  /** Which of these there are; neither what was deleted nor what was erased. */
  presentOf(kind: 'applications' | 'accounts', ids: readonly string[]): Promise<Set<string>>;
  findGrant(grant_id: string): Promise<StoredGrant | null>;
  count(): Promise<RecordCounts>;

  findEarlierCopy(): Promise<EarlierCopy | null>;
  noteCopy(copy: EarlierCopy): Promise<void>;

  close(): Promise<void>;
}

/**
 * The rule for grants: a grant only moves on. What was revoked, used or recovered at the target stays
 * so, and what was at the source becomes so.
 */
export function isAhead(source: StoredGrant, target: StoredGrant): boolean {
  if (target.revoked_at !== null) return false;
  const [one, other] = [source, target].map(({ revoked_at, first_used_at, recoveries }) => [
    Number(revoked_at !== null),
    Number(first_used_at !== null),
    recoveries,
  ]) as [number[], number[]];
  const different = one.findIndex((value, index) => value !== other[index]);
  return different >= 0 && (one[different] as number) > (other[different] as number);
}

/**
 * The rule for an application that is at both sides. What a copy has brought, and is missing at one
 * side, was removed there, and stays removed. What no copy has brought was added where it is.
 *
 * Times can't tell the two apart: a secret gets its time before it is committed, and a copy may read
 * in between.
 *
 * @param wasCopied - whether an earlier copy has brought a secret
 * @returns what the target should have
 */
export function mergeApplication(
  source: ApplicationRecord,
  target: ApplicationRecord,
  wasCopied: (secret_id: string) => boolean,
): ApplicationRecord {
  const [inSource, inTarget] = [source, target].map(
    ({ secrets }) => new Set(secrets.map(({ id }) => id)),
  ) as [Set<string>, Set<string>];
  return {
    ...target,
    disabled: source.disabled || target.disabled,
    secrets: [
      ...target.secrets.filter(({ id }) => inSource.has(id) || !wasCopied(id)),
      ...source.secrets.filter(({ id }) => !inTarget.has(id) && !wasCopied(id)),
    ],
  };
}

/** The initiator of each change of a grant. */
export const initiatorNames = [
  'issued_by',
  'redeemed_by',
  'recovered_by',
  'first_used_by',
  'revoked_by',
] as const satisfies readonly (keyof StoredGrant)[];
