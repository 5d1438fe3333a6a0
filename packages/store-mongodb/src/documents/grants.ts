import type {
  CodeBinding,
  CodeState,
  ConnectedGrant,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  ListedHistory,
  PendingRecord,
  RevokedRecord,
  StoredReason,
} from '@latchkey/store/records';
import type { NewCode, Parties } from '@latchkey/store/store';
import type { StoredGrant } from '@latchkey/store/transfer';
import type { Binary, Filter } from 'mongodb';
import { revisionOf, type Versioned } from '../retry-on-conflict.ts';
import {
  type AccountDocument,
  type AccountSnapshot,
  type ErasedAccountDocument,
  fromAccountDocument,
  fromSnapshot,
  isErased,
  toSnapshot,
} from './accounts.ts';
import type { AuthenticatingDocument } from './applications.ts';
import type { MarkDocument } from './marks.ts';
import {
  fromHash,
  fromId,
  fromInitiator,
  type InitiatorDocument,
  initiatorField,
  toDate,
  toHash,
  toId,
} from './values.ts';

interface Initiators {
  issued_by?: InitiatorDocument;
  redeemed_by?: InitiatorDocument;
  recovered_at?: Date;
  recovered_by?: InitiatorDocument;
  first_used_by?: InitiatorDocument;
  revoked_by?: InitiatorDocument;
  revoked_reason?: StoredReason;
}

/** Pending without `created_at`, revoked with `revoked_at`. The revision counts recoveries. */
export interface GrantDocument extends Initiators, Versioned {
  _id: Binary;
  application_id: Binary;
  /** The next four are absent once REVOKED_GRANT_DAYS have passed since the revocation. */
  account_id: Binary;
  scope: string;
  /** This and the next two are absent for a moment during the issue. There is no code yet then. */
  account?: AccountSnapshot;
  /** The revision of the account at the snapshot. An erasure ends grants with an earlier one. */
  account_revision?: number;
  code_hash?: Binary;
  redirect_uri?: string;
  redirect_uri_given?: true;
  code_challenge?: string;
  resource?: string;
  link_id?: Binary;
  code_expires_at?: Date;
  /** Of the application; absent for 0. */
  generation?: number;
  created_at?: Date;
  secret_hash?: Binary;
  /** By this, a call whose response was lost recognises its own redemption. */
  redemption_id?: Binary;
  first_used_at?: Date;
  last_used_at?: Date;
  revoked_at?: Date;
  erasure_id?: Binary;
  /** Absent for none. */
  marks?: MarkDocument[];
}

/** In the words of the indexes `unrevoked_by_…`, where null is for an absent field. */
export const unrevoked = { revoked_at: null } as object as Filter<GrantDocument>;

export const withDetails = {
  created_at: { $exists: true },
  scope: { $exists: true },
} satisfies Filter<GrantDocument>;

export type RedeemedDocument = GrantDocument & { created_at: Date; account: AccountSnapshot };

type DetailedDocument = RedeemedDocument & { code_hash: Binary };

export interface JoinedGrantDocument extends RedeemedDocument {
  joined_application: AuthenticatingDocument[];
  joined_account: (AccountDocument | ErasedAccountDocument)[];
}

function toBinding(bound: CodeBinding): Partial<GrantDocument> {
  const { redirect_uri, redirect_uri_given, code_challenge, resource, link_id } = bound;
  return {
    ...(redirect_uri !== null && { redirect_uri }),
    ...(redirect_uri_given && { redirect_uri_given }),
    ...(code_challenge !== null && { code_challenge }),
    ...(resource !== null && { resource }),
    ...(link_id !== null && { link_id: toId(link_id) }),
  };
}

function fromBinding(document: Partial<GrantDocument>): CodeBinding {
  return {
    redirect_uri: document.redirect_uri ?? null,
    redirect_uri_given: document.redirect_uri_given ?? false,
    code_challenge: document.code_challenge ?? null,
    resource: document.resource ?? null,
    link_id: document.link_id ? fromId(document.link_id) : null,
  };
}

export function ofParties({ account_id, application_id }: Parties) {
  return {
    ...(account_id !== undefined && { account_id: toId(account_id) }),
    ...(application_id !== undefined && { application_id: toId(application_id) }),
  };
}

export function toNewDocument(code: NewCode): GrantDocument {
  return {
    _id: toId(code.grant_id),
    application_id: toId(code.application_id),
    account_id: toId(code.account_id),
    scope: code.scope,
    ...(code.generation > 0 && { generation: code.generation }),
    code_expires_at: toDate(code.code_expires_at),
    ...toBinding(code),
    ...initiatorField('issued_by', code.initiator),
  };
}

export function fromPendingDocument(document: GrantDocument): PendingRecord {
  const { code_expires_at, code_hash, account } = document;
  if (!code_expires_at || !code_hash || !account)
    throw new TypeError('This is not a pending code.');
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    scope: document.scope,
    generation: document.generation ?? 0,
    account: fromSnapshot(document.account_id, account),
    code_hash: fromHash(code_hash),
    code_expires_at: code_expires_at.getTime(),
    ...fromBinding(document),
  };
}

export function isRedeemed(document: GrantDocument): document is RedeemedDocument {
  return document.created_at !== undefined;
}

export function fromGrantDocument(document: GrantDocument): GrantRecord {
  if (!isRedeemed(document)) throw new TypeError('A code that was not redeemed is not a grant.');
  const account = fromSnapshot(document.account_id, document.account);
  return { ...toConnectedGrant(document), account };
}

export function toConnectedGrant(document: RedeemedDocument): ConnectedGrant {
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    resource: document.resource ?? null,
    scope: document.scope ?? '',
    created_at: document.created_at.getTime(),
    last_used_at: document.last_used_at?.getTime() ?? null,
    revoked_at: document.revoked_at?.getTime() ?? null,
  };
}

function hasDetails(document: RedeemedDocument): document is DetailedDocument {
  return document.account_id !== undefined;
}

export function toRevokedRecord(document: GrantDocument): RevokedRecord {
  const { created_at, revoked_at } = document;
  if (!created_at || !revoked_at) throw new TypeError('The grant is not revoked.');
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    created_at: created_at.getTime(),
    revoked_at: revoked_at.getTime(),
  };
}

export function toGrantHistory(document: GrantDocument): GrantHistory {
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    account_id: document.account_id ? fromId(document.account_id) : null,
    issued_by: fromInitiator(document.issued_by),
    created_at: document.created_at?.getTime() ?? null,
    redeemed_by: fromInitiator(document.redeemed_by),
    recoveries: revisionOf(document),
    recovered_at: document.recovered_at?.getTime() ?? null,
    recovered_by: fromInitiator(document.recovered_by),
    first_used_at: document.first_used_at?.getTime() ?? null,
    first_used_by: fromInitiator(document.first_used_by),
    revoked_at: document.revoked_at?.getTime() ?? null,
    revoked_by: fromInitiator(document.revoked_by),
    revoked_reason: document.revoked_reason ?? null,
  };
}

export function toListedHistory(document: GrantDocument): ListedHistory {
  return { ...toGrantHistory(document), link_id: fromBinding(document).link_id };
}

export function fromStoredGrantDocument(document: RedeemedDocument): StoredGrant {
  const isWhole = hasDetails(document);
  return {
    ...toGrantHistory(document),
    ...fromBinding(document),
    created_at: document.created_at.getTime(),
    secret_hash: document.secret_hash ? fromHash(document.secret_hash) : null,
    last_used_at: document.last_used_at?.getTime() ?? null,
    scope: document.scope ?? null,
    account: isWhole ? fromSnapshot(document.account_id, document.account) : null,
    code_hash: isWhole ? fromHash(document.code_hash) : null,
  };
}

export function toStoredGrantDocument(grant: StoredGrant): GrantDocument {
  const { account_id, scope, account, code_hash, secret_hash, recoveries } = grant;
  const dates = [
    ...(['created_at', 'first_used_at', 'last_used_at'] as const),
    ...(['revoked_at', 'recovered_at'] as const),
  ];
  return {
    _id: toId(grant.grant_id),
    application_id: toId(grant.application_id),
    ...(account_id && { account_id: toId(account_id) }),
    ...(scope !== null && { scope }),
    ...(account && { account: toSnapshot(account) }),
    ...(code_hash && { code_hash: toHash(code_hash) }),
    ...toBinding(grant),
    ...Object.fromEntries(
      dates.flatMap((name) => (grant[name] === null ? [] : [[name, toDate(grant[name])]])),
    ),
    ...(secret_hash && { secret_hash: toHash(secret_hash) }),
    ...(recoveries > 0 && { revision: recoveries }),
    ...(grant.revoked_reason && { revoked_reason: grant.revoked_reason }),
    ...Object.assign(
      {},
      ...initiatorNames.map((name) => grant[name] && initiatorField(name, grant[name])),
    ),
  } as GrantDocument;
}

const initiatorNames = [
  'issued_by',
  'redeemed_by',
  'recovered_by',
  'first_used_by',
  'revoked_by',
] as const satisfies readonly (keyof StoredGrant)[];

export function toCodeState(document: GrantDocument): CodeState | null {
  const { application_id, account_id, code_hash, created_at } = document;
  if (!code_hash || !account_id) return null;
  return {
    application_id: fromId(application_id),
    account_id: fromId(account_id),
    generation: document.generation ?? 0,
    code_hash: fromHash(code_hash),
    redeemed: created_at !== undefined,
    ...fromBinding(document),
  };
}

export function toGrantAuthentication(
  document: JoinedGrantDocument,
  { currentAccount }: { currentAccount: boolean },
): GrantAuthentication {
  const [joined] = document.joined_application;
  const application = joined?.deleted_at ? undefined : joined;
  const [account] = document.joined_account;
  const grant = toConnectedGrant(document);
  // An erasure may not have reached this grant yet. Once refused, a grant must stay refused.
  const erased_at = account && isErased(account) ? account.erased_at.getTime() : null;
  const revoked_at = grant.revoked_at ?? erased_at;
  const { secret_hash } = document;
  const found = {
    grant: { ...grant, revoked_at },
    secret_hash: secret_hash && revoked_at === null ? fromHash(secret_hash) : null,
    first_used_at: document.first_used_at?.getTime() ?? null,
    application_disabled: application?.disabled ?? null,
    application_public: application?.public ?? null,
    document_uri: application?.document?.uri ?? null,
    idle_days: application?.idle_days ?? null,
    enabled_at: application?.enabled_at?.getTime() ?? null,
  };
  if (!hasDetails(document)) return { ...found, account: null, external_id: null };
  const ofNow = account && !isErased(account) ? fromAccountDocument(account) : null;
  const atIssue = () => fromSnapshot(document.account_id, document.account);
  return {
    ...found,
    account: currentAccount ? ofNow : atIssue(),
    external_id: ofNow?.external_id ?? null,
  };
}
