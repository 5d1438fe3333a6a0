import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { Binary } from 'mongodb';
import type { Milliseconds } from '../../clock.ts';
import type { Origin } from '../../origin.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeState,
  CredentialHash,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  PendingRecord,
  RefusalRecord,
  SecretRecord,
} from '../records.ts';
import type { Change } from '../store.ts';
import { type Revised, revisionOf } from './revision.ts';

// What is at rest, and the way between it and the records of the port.

export interface SecretDocument {
  id: Binary;
  hash: Binary;
  hint: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** Its revision counts what changed its secrets, and whether it is disabled. */
export interface ApplicationDocument extends Revised {
  _id: Binary;
  name: string;
  disabled: boolean;
  created_at: Date;
  secrets: SecretDocument[];
}

export interface AccountDocument extends Revised {
  _id: Binary;
  username: string;
  display_name: string;
  twitter: string | null;
  verified: boolean;
  supporter: boolean;
}

/** The account as it was at issue. Its id is the grant's `account_id`, which the lists search by. */
type AccountSnapshot = Omit<AccountDocument, '_id' | 'revision'>;

/** Where a change came from. */
type OriginDocument = Pick<Origin, 'request_id' | 'by'> & { secret_id: Binary | null };

/** Where the changes of a grant came from: each is set by the write that makes the change. */
interface Marks {
  issued_by?: OriginDocument;
  exchanged_by?: OriginDocument;
  recovered_at?: Date;
  recovered_by?: OriginDocument;
  first_used_by?: OriginDocument;
  revoked_by?: OriginDocument;
}

/**
 * A grant, from the issue of its code on. Which fields there are tells what it is: pending while
 * there is no `created_at`, revoked once there is a `revoked_at`, active in between. Its revision
 * counts the recoveries: all else happens to it once.
 */
export interface GrantDocument extends Marks, Revised {
  _id: Binary;
  application_id: Binary;
  account_id: Binary;
  scope: string;
  account: AccountSnapshot;
  code_hash: Binary;
  /** While pending only: the TTL index deletes by it. */
  code_expires_at?: Date;
  created_at?: Date;
  /** While active only. */
  secret_hash?: Binary;
  /** Whose exchange it was, for the one whose answer got lost. */
  redemption_id?: Binary;
  first_used_at?: Date;
  revoked_at?: Date;
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

/** A count of a rate limit. */
export interface RateLimitDocument {
  _id: string;
  count: number;
  /** The TTL index deletes by it. */
  ends_at: Date;
}

/** A grant whose code was exchanged. */
export type ExchangedDocument = GrantDocument & { created_at: Date };

/** A grant with what {@link GrantAuthentication} joins to it; each join has one document or none. */
export interface JoinedGrantDocument extends ExchangedDocument {
  joined_application: ApplicationDocument[];
  /** Where the account is wanted as it is now. */
  joined_account?: AccountDocument[];
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

function fromId(id: Binary): string {
  return uuidFromBytes(id.value());
}

/** A copy: the driver's bytes are a view into the buffer of the whole reply. */
function fromHash(hash: Binary): CredentialHash {
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

function fromSecretDocument(document: SecretDocument): SecretRecord {
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
  };
}

export function fromApplicationDocument(document: ApplicationDocument): ApplicationRecord {
  return {
    id: fromId(document._id),
    name: document.name,
    disabled: document.disabled,
    created_at: document.created_at.getTime(),
    secrets: document.secrets.map(fromSecretDocument),
  };
}

function toSnapshot(account: AccountRecord): AccountSnapshot {
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

export function toAccountDocument(account: AccountRecord): AccountDocument {
  return { _id: toId(account.id), ...toSnapshot(account) };
}

export function fromAccountDocument(document: AccountDocument): AccountRecord {
  return fromSnapshot(document._id, document);
}

/** The mark of a change, as a member to set; none where nobody told where the change came from. */
export function mark<
  Name extends 'issued_by' | 'exchanged_by' | 'recovered_by' | 'first_used_by' | 'revoked_by',
>(name: Name, origin: Origin | undefined): { [Key in Name]?: OriginDocument } {
  if (origin === undefined) return {};
  const { request_id, by, secret_id } = origin;
  const document = { request_id, by, secret_id: secret_id === null ? null : toId(secret_id) };
  return { [name]: document } as { [Key in Name]: OriginDocument };
}

export function toPendingDocument(code: PendingRecord & Change): GrantDocument {
  return {
    _id: toId(code.grant_id),
    application_id: toId(code.application_id),
    account_id: toId(code.account.id),
    scope: code.scope,
    account: toSnapshot(code.account),
    code_hash: toHash(code.code_hash),
    code_expires_at: toDate(code.code_expires_at),
    ...mark('issued_by', code.origin),
  };
}

export function fromPendingDocument(document: GrantDocument): PendingRecord {
  const { code_expires_at } = document;
  if (!code_expires_at) throw new TypeError('A grant that was exchanged is no pending code.');
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    scope: document.scope,
    account: fromSnapshot(document.account_id, document.account),
    code_hash: fromHash(document.code_hash),
    code_expires_at: code_expires_at.getTime(),
  };
}

export function isExchanged(document: GrantDocument): document is ExchangedDocument {
  return document.created_at !== undefined;
}

export function fromGrantDocument(document: GrantDocument): GrantRecord {
  if (!isExchanged(document)) throw new TypeError('A code that was not exchanged is no grant.');
  const account = fromSnapshot(document.account_id, document.account);
  return { ...withoutAccount(document), account };
}

function withoutAccount(document: ExchangedDocument): GrantAuthentication['grant'] {
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    scope: document.scope,
    created_at: document.created_at.getTime(),
    revoked_at: document.revoked_at?.getTime() ?? null,
  };
}

function fromOrigin(document: OriginDocument | undefined): Origin | null {
  if (document === undefined) return null;
  const { request_id, by, secret_id } = document;
  return { request_id, by, secret_id: secret_id && fromId(secret_id) };
}

export function toGrantHistory(document: GrantDocument): GrantHistory {
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    account_id: fromId(document.account_id),
    issued_by: fromOrigin(document.issued_by),
    created_at: document.created_at?.getTime() ?? null,
    exchanged_by: fromOrigin(document.exchanged_by),
    recoveries: revisionOf(document),
    recovered_at: document.recovered_at?.getTime() ?? null,
    recovered_by: fromOrigin(document.recovered_by),
    first_used_at: document.first_used_at?.getTime() ?? null,
    first_used_by: fromOrigin(document.first_used_by),
    revoked_at: document.revoked_at?.getTime() ?? null,
    revoked_by: fromOrigin(document.revoked_by),
  };
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

export function toCodeState(
  document: Pick<GrantDocument, 'application_id' | 'code_hash' | 'created_at'>,
): CodeState {
  return {
    application_id: fromId(document.application_id),
    code_hash: fromHash(document.code_hash),
    exchanged: document.created_at !== undefined,
  };
}

export function toGrantAuthentication(document: JoinedGrantDocument): GrantAuthentication {
  return {
    grant: withoutAccount(document),
    secret_hash: document.secret_hash ? fromHash(document.secret_hash) : null,
    first_used_at: document.first_used_at?.getTime() ?? null,
    // An application that is gone is as good as disabled.
    application_disabled: document.joined_application[0]?.disabled ?? true,
    account: accountOf(document),
  };
}

function accountOf(document: JoinedGrantDocument): AccountRecord | null {
  if (!document.joined_account) return fromSnapshot(document.account_id, document.account);
  const [current] = document.joined_account;
  return current ? fromAccountDocument(current) : null;
}
