import type { AccountRecord, CurrentAccount } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import type { NumberedMarkDocument } from './marks.ts';
import { fromId, type InitiatorDocument, toId } from './values.ts';

/** The id of the account is the `account_id` of the grant. */
export interface AccountSnapshot {
  username: string;
  display_name: string;
  twitter: string | null;
  verified: boolean;
  supporter: boolean;
}

export interface AccountDocument extends Versioned, AccountSnapshot {
  _id: Binary;
  /** A UUIDv7 of the first put, since the id of an account has no time. */
  place: Binary;
  /** Absent for none. */
  external_id?: string;
  /** How often its pages were ended; absent for never. */
  sign_outs?: number;
  /** One at most; absent for none. */
  marks?: NumberedMarkDocument[];
}

/** An erased account: see {@link ApplicationDocument.deleted_at}. */
export interface ErasedAccountDocument extends Versioned {
  _id: Binary;
  erasure_id: Binary;
  erased_at: Date;
  erased_by?: InitiatorDocument;
  /** Its grants from this id on have no names any more. */
  erased_from?: Binary;
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

export function fromSnapshot(id: Binary, document: AccountSnapshot): AccountRecord {
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

export function fromAccountDocument(document: AccountDocument): CurrentAccount {
  const { _id, external_id } = document;
  return { ...fromSnapshot(_id, document), ...(external_id !== undefined && { external_id }) };
}

export function toAccountDocument(
  { external_id, ...account }: CurrentAccount,
  place: Binary,
): AccountDocument {
  return {
    _id: toId(account.id),
    place,
    ...toSnapshot(account),
    ...(external_id !== undefined && { external_id }),
  };
}
