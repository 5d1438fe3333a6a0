import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { Binary } from 'mongodb';
import type { Milliseconds } from '../../clock.ts';
import type { Initiator } from '../../initiator.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeBinding,
  CodeState,
  CommandChange,
  CredentialHash,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  PendingRecord,
  RefusalRecord,
  RevokedRecord,
  ScopeRecord,
  SecretRecord,
} from '../records.ts';
import type { NewCode } from '../store.ts';
import { initiatorNames, type StoredGrant, type StoredScope } from '../transfer.ts';
import type { LinkInitiators, PageInitiators } from './link-documents.ts';
import { revisionOf, type Versioned } from './retry-on-conflict.ts';

export interface SecretDocument {
  id: Binary;
  hash: Binary;
  hint: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

export type InitiatorDocument = Omit<Initiator, 'secret_id'> & { secret_id: Binary | null };

/** The revision counts its changes, but for the uses of its secrets, and the deletion. */
export interface ApplicationDocument extends Versioned {
  _id: Binary;
  name: string;
  disabled: boolean;
  created_at: Date;
  secrets: SecretDocument[];
  redirect_uris: string[];
  scopes: string[] | null;
  logo_uri: string | null;
  homepage_uri: string | null;
  public: boolean;
  resource_server: boolean;
  /** The ids of the secrets that a copy from another database has brought. */
  copied_secrets?: Binary[];
  /**
   * A deleted application stays, without what an operator said about it: a command that arrives late
   * finds the id taken and the revision raised, and does not bring it back.
   */
  deleted_at?: Date;
  deleted_by?: InitiatorDocument;
  /** Until the deletion is forgotten. */
  deletion_pending?: true;
}

/** The account as it was at issue. Its id is the `account_id` of the grant. */
interface AccountSnapshot {
  username: string;
  display_name: string;
  twitter: string | null;
  verified: boolean;
  supporter: boolean;
}

/** The revision counts the puts and the erasures. */
export interface AccountDocument extends Versioned, AccountSnapshot {
  _id: Binary;
  /** A UUIDv7 of the first put: the id of an account has no time. */
  place: Binary;
}

/** What stays of an erased account: see {@link ApplicationDocument.deleted_at}. */
export interface ErasedAccountDocument extends Versioned {
  _id: Binary;
  /** Marks the grants that the erasure revoked. */
  erasure_id: Binary;
  erased_at: Date;
  erased_by?: InitiatorDocument;
}

interface Initiators {
  issued_by?: InitiatorDocument;
  redeemed_by?: InitiatorDocument;
  recovered_at?: Date;
  recovered_by?: InitiatorDocument;
  first_used_by?: InitiatorDocument;
  revoked_by?: InitiatorDocument;
}

/**
 * A grant, from the issue of its code on. Its fields are its state: pending without `created_at`,
 * revoked with `revoked_at`, active in between. Its revision counts the recoveries; every other
 * change happens once.
 */
export interface GrantDocument extends Initiators, Versioned {
  _id: Binary;
  application_id: Binary;
  /** The next four are absent once REVOKED_GRANT_DAYS have passed since the revocation. */
  account_id: Binary;
  scope: string;
  /** With the next two absent for a moment during the issue: then there is no code yet. */
  account?: AccountSnapshot;
  /** The revision of the account that the snapshot was taken of. An erasure ends those before it. */
  account_revision?: number;
  code_hash?: Binary;
  /** What the code is bound to; absent for none, and without its hash. */
  redirect_uri?: string;
  redirect_uri_given?: true;
  code_challenge?: string;
  link_id?: Binary;
  /** Only while pending. The TTL index deletes by it. */
  code_expires_at?: Date;
  created_at?: Date;
  secret_hash?: Binary;
  /** The redemption that made it: a call whose response was lost recognises its own. */
  redemption_id?: Binary;
  first_used_at?: Date;
  revoked_at?: Date;
  /** The erasure that revoked it. */
  erasure_id?: Binary;
}

/** The revision counts the puts and the deletions. */
export interface ScopeDocument extends Versioned, Omit<ScopeRecord, 'scope'> {
  _id: string;
  described_at: Date;
}

/** What stays of a deleted description: see {@link ApplicationDocument.deleted_at}. */
export interface DeletedScopeDocument extends Versioned {
  _id: string;
  deleted_at: Date;
}

export type RefusalDocument = Pick<
  RefusalRecord,
  'request_id' | 'operation' | 'error_code' | 'reason' | 'by' | 'address'
> & {
  _id: Binary;
  at: Date;
  application_id: Binary | null;
  grant_id: Binary | null;
  /** The TTL index deletes by it. */
  expires_at: Date;
};

export interface RateLimitDocument {
  _id: string;
  count: number;
  /** The TTL index deletes by it. */
  ends_at: Date;
}

export type RedeemedDocument = GrantDocument & { created_at: Date; account: AccountSnapshot };

type DetailedDocument = RedeemedDocument & { code_hash: Binary };

export interface JoinedGrantDocument extends RedeemedDocument {
  joined_application: ApplicationDocument[];
  joined_account: (AccountDocument | ErasedAccountDocument)[];
}

export function toId(uuid: string): Binary {
  return new Binary(uuidToBytes(uuid), Binary.SUBTYPE_UUID);
}

export function toHash(hash: CredentialHash): Binary {
  return new Binary(hash);
}

export function toDate(time: Milliseconds): Date {
  return new Date(time);
}

export function isSame(one: Binary | undefined, other: Binary): boolean {
  return one !== undefined && Buffer.compare(one.value(), other.value()) === 0;
}

export function fromId(id: Binary): string {
  return uuidFromBytes(id.value());
}

/** A copy: the driver's bytes are a view into the buffer of the whole response. */
export function fromHash(hash: Binary): CredentialHash {
  return Uint8Array.from(hash.value());
}

export function toSecretDocument(secret: SecretRecord): SecretDocument {
  return {
    id: toId(secret.id),
    hash: toHash(secret.hash),
    hint: secret.hint,
    created_at: toDate(secret.created_at),
    expires_at: secret.expires_at === null ? null : toDate(secret.expires_at),
    last_used_at: secret.last_used_at === null ? null : toDate(secret.last_used_at),
  };
}

export function fromSecretDocument(document: SecretDocument): SecretRecord {
  return {
    id: fromId(document.id),
    hash: fromHash(document.hash),
    hint: document.hint,
    created_at: document.created_at.getTime(),
    expires_at: document.expires_at?.getTime() ?? null,
    last_used_at: document.last_used_at?.getTime() ?? null,
  };
}

export function toApplicationDocument(application: ApplicationRecord): ApplicationDocument {
  return {
    _id: toId(application.id),
    name: application.name,
    disabled: application.disabled,
    created_at: toDate(application.created_at),
    secrets: application.secrets.map(toSecretDocument),
    redirect_uris: application.redirect_uris,
    scopes: application.scopes,
    logo_uri: application.logo_uri,
    homepage_uri: application.homepage_uri,
    public: application.public,
    resource_server: application.resource_server,
  };
}

export function fromApplicationDocument(document: ApplicationDocument): ApplicationRecord {
  return {
    id: fromId(document._id),
    name: document.name,
    disabled: document.disabled,
    created_at: document.created_at.getTime(),
    secrets: document.secrets.map(fromSecretDocument),
    redirect_uris: document.redirect_uris,
    scopes: document.scopes,
    logo_uri: document.logo_uri,
    homepage_uri: document.homepage_uri,
    public: document.public,
    resource_server: document.resource_server,
  };
}

export function toSnapshot(account: AccountSnapshot): AccountSnapshot {
  return {
    username: account.username,
    display_name: account.display_name,
    twitter: account.twitter,
    verified: account.verified,
    supporter: account.supporter,
  };
}

function fromSnapshot(id: Binary, document: AccountSnapshot): AccountRecord {
  return {
    id: fromId(id),
    username: document.username,
    display_name: document.display_name,
    twitter: document.twitter,
    verified: document.verified,
    supporter: document.supporter,
  };
}

export function isErased(
  document: AccountDocument | ErasedAccountDocument,
): document is ErasedAccountDocument {
  return 'erased_at' in document;
}

/** The deletion of an application that was deleted. */
export function toDeletionRecord({ _id, deleted_at, deleted_by }: ApplicationDocument) {
  if (!deleted_at) throw new TypeError('The application is not deleted.');
  return {
    application_id: fromId(_id),
    deleted_at: deleted_at.getTime(),
    deleted_by: fromInitiator(deleted_by),
  };
}

export function fromAccountDocument(document: AccountDocument): AccountRecord {
  return fromSnapshot(document._id, document);
}

export function initiatorField<
  Name extends
    | keyof Omit<Initiators, 'recovered_at'>
    | keyof LinkInitiators
    | keyof PageInitiators
    | 'erased_by'
    | 'deleted_by',
>(name: Name, initiator: Initiator | undefined): { [Key in Name]?: InitiatorDocument } {
  if (initiator === undefined) return {};
  const { request_id, by, secret_id, os_user } = initiator;
  const document: InitiatorDocument = {
    request_id,
    by,
    secret_id: secret_id === null ? null : toId(secret_id),
    ...(os_user !== undefined && { os_user }),
  };
  return { [name]: document } as { [Key in Name]: InitiatorDocument };
}

export function toBinding(bound: CodeBinding): Partial<GrantDocument> {
  const { redirect_uri, redirect_uri_given, code_challenge, link_id } = bound;
  return {
    ...(redirect_uri !== null && { redirect_uri }),
    ...(redirect_uri_given && { redirect_uri_given }),
    ...(code_challenge !== null && { code_challenge }),
    ...(link_id !== null && { link_id: toId(link_id) }),
  };
}

function fromBinding(document: Partial<GrantDocument>): CodeBinding {
  return {
    redirect_uri: document.redirect_uri ?? null,
    redirect_uri_given: document.redirect_uri_given ?? false,
    code_challenge: document.code_challenge ?? null,
    link_id: document.link_id ? fromId(document.link_id) : null,
  };
}

/** A code before it has its account and its hash. */
export function toNewDocument(code: NewCode): GrantDocument {
  return {
    _id: toId(code.grant_id),
    application_id: toId(code.application_id),
    account_id: toId(code.account_id),
    scope: code.scope,
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
  return { ...withoutAccount(document), account };
}

function withoutAccount(document: RedeemedDocument): GrantAuthentication['grant'] {
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    scope: document.scope ?? '',
    created_at: document.created_at.getTime(),
    revoked_at: document.revoked_at?.getTime() ?? null,
  };
}

/** Whether more is left of it than a {@link RevokedRecord}. */
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

function fromInitiator(document: InitiatorDocument | undefined): Initiator | null {
  if (document === undefined) return null;
  const { secret_id, ...initiator } = document;
  return { ...initiator, secret_id: secret_id && fromId(secret_id) };
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
  };
}

export function fromStoredGrantDocument(document: RedeemedDocument): StoredGrant {
  const { account_id: _, ...history } = toGrantHistory(document);
  return {
    ...history,
    created_at: document.created_at.getTime(),
    secret_hash: document.secret_hash ? fromHash(document.secret_hash) : null,
    details: hasDetails(document)
      ? {
          scope: document.scope,
          account: fromSnapshot(document.account_id, document.account),
          code_hash: fromHash(document.code_hash),
          ...fromBinding(document),
        }
      : null,
  };
}

export function toStoredGrantDocument(grant: StoredGrant): GrantDocument {
  const { details, secret_hash, recoveries } = grant;
  const dates = ['created_at', 'first_used_at', 'revoked_at', 'recovered_at'] as const;
  return {
    _id: toId(grant.grant_id),
    application_id: toId(grant.application_id),
    ...(details && {
      account_id: toId(details.account.id),
      scope: details.scope,
      account: toSnapshot(details.account),
      code_hash: toHash(details.code_hash),
      ...toBinding(details),
    }),
    ...Object.fromEntries(
      dates.flatMap((name) => (grant[name] === null ? [] : [[name, toDate(grant[name])]])),
    ),
    ...(secret_hash && { secret_hash: toHash(secret_hash) }),
    ...(recoveries > 0 && { revision: recoveries }),
    ...Object.assign(
      {},
      ...initiatorNames.map((name) => initiatorField(name, grant[name] ?? undefined)),
    ),
  } as GrantDocument;
}

/** Its members are texts, as they are on the wire: nothing looks for them. */
export type CommandChangeDocument = Omit<CommandChange, 'id'> & { _id: Binary };

export function toCommandChangeDocument({ id, ...change }: CommandChange): CommandChangeDocument {
  return { _id: toId(id), ...change };
}

export function fromCommandChangeDocument({
  _id,
  ...change
}: CommandChangeDocument): CommandChange {
  return { id: fromId(_id), ...change };
}

export function fromScopeDocument(document: ScopeDocument): StoredScope {
  const { _id, described_at, title, description, texts } = document;
  return { scope: _id, described_at: described_at.getTime(), title, description, texts };
}

export function toRefusalDocument(refusal: RefusalRecord): RefusalDocument {
  const { id, at, application_id, grant_id, expires_at, ...rest } = refusal;
  return {
    _id: toId(id),
    at: toDate(at),
    ...rest,
    application_id: application_id === null ? null : toId(application_id),
    grant_id: grant_id === null ? null : toId(grant_id),
    expires_at: toDate(expires_at),
  };
}

export function fromRefusalDocument(document: RefusalDocument): RefusalRecord {
  const { _id, at, application_id, grant_id, expires_at, ...rest } = document;
  return {
    id: fromId(_id),
    at: at.getTime(),
    ...rest,
    application_id: application_id && fromId(application_id),
    grant_id: grant_id && fromId(grant_id),
    expires_at: expires_at.getTime(),
  };
}

export function toCodeState(document: GrantDocument): CodeState | null {
  const { application_id, code_hash, created_at } = document;
  if (!code_hash) return null;
  return {
    application_id: fromId(application_id),
    code_hash: fromHash(code_hash),
    redeemed: created_at !== undefined,
    ...fromBinding(document),
  };
}

/** @param options.currentAccount - whether to return the account as it is now, not as it was at issue */
export function toGrantAuthentication(
  document: JoinedGrantDocument,
  { currentAccount }: { currentAccount: boolean },
): GrantAuthentication {
  const [application] = document.joined_application;
  const [account] = document.joined_account;
  const grant = withoutAccount(document);
  // The erasure may still be under way, and has not come to this grant. What has been refused because
  // of its mark must not be accepted afterwards, whatever is asked for.
  const erased_at = account && isErased(account) ? account.erased_at.getTime() : null;
  const revoked_at = grant.revoked_at ?? erased_at;
  const { secret_hash } = document;
  const found = {
    grant: { ...grant, revoked_at },
    secret_hash: secret_hash && revoked_at === null ? fromHash(secret_hash) : null,
    first_used_at: document.first_used_at?.getTime() ?? null,
    application_disabled: application && !application.deleted_at ? application.disabled : null,
  };
  if (!hasDetails(document)) return { ...found, account: null };
  if (!currentAccount) {
    return { ...found, account: fromSnapshot(document.account_id, document.account) };
  }
  const isThere = account !== undefined && !isErased(account);
  return { ...found, account: isThere ? fromAccountDocument(account) : null };
}
