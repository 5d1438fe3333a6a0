import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { Binary } from 'mongodb';
import type { Milliseconds } from '../../clock.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeState,
  CredentialHash,
  GrantAuthentication,
  GrantRecord,
  PendingRecord,
  SecretRecord,
} from '../records.ts';
import type { Revised } from './revision.ts';

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

/**
 * A grant, from the issue of its code on. Which fields there are tells what it is: pending while
 * there is no `created_at`, revoked once there is a `revoked_at`, active in between. Its revision
 * counts the recoveries: all else happens to it once.
 */
export interface GrantDocument extends Revised {
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

/** A grant whose code was exchanged. */
export type ExchangedDocument = GrantDocument & { created_at: Date };

/** A grant with what {@link GrantAuthentication} joins to it; each join has one document or none. */
export interface JoinedGrantDocument extends ExchangedDocument {
  joined_application: Pick<ApplicationDocument, '_id' | 'disabled'>[];
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

export function toPendingDocument(code: PendingRecord): GrantDocument {
  return {
    _id: toId(code.grant_id),
    application_id: toId(code.application_id),
    account_id: toId(code.account.id),
    scope: code.scope,
    account: toSnapshot(code.account),
    code_hash: toHash(code.code_hash),
    code_expires_at: toDate(code.code_expires_at),
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
  return {
    grant_id: fromId(document._id),
    application_id: fromId(document.application_id),
    scope: document.scope,
    account: fromSnapshot(document.account_id, document.account),
    created_at: document.created_at.getTime(),
    revoked_at: document.revoked_at?.getTime() ?? null,
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
  const [account] = document.joined_account ?? [];
  return {
    grant: fromGrantDocument(document),
    secret_hash: document.secret_hash ? fromHash(document.secret_hash) : null,
    first_used_at: document.first_used_at?.getTime() ?? null,
    // An application that is gone is as good as disabled.
    application_disabled: document.joined_application[0]?.disabled ?? true,
    account: account ? fromAccountDocument(account) : null,
  };
}
