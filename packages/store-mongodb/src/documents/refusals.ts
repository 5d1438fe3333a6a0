import type { RefusalRecord } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import { fromId, toDate, toId } from './values.ts';

export type RefusalDocument = Pick<
  RefusalRecord,
  'request_id' | 'operation' | 'error_code' | 'reason' | 'by' | 'address'
> & {
  _id: Binary;
  at: Date;
  application_id: Binary | null;
  account_id: Binary | null;
  grant_id: Binary | null;
  key_id: Binary | null;
  expires_at: Date;
};

export function toRefusalDocument(refusal: RefusalRecord): RefusalDocument {
  const { id, at, application_id, account_id, grant_id, key_id, expires_at, ...rest } = refusal;
  return {
    _id: toId(id),
    at: toDate(at),
    ...rest,
    application_id: application_id === null ? null : toId(application_id),
    account_id: account_id === null ? null : toId(account_id),
    grant_id: grant_id === null ? null : toId(grant_id),
    key_id: key_id === null ? null : toId(key_id),
    expires_at: toDate(expires_at),
  };
}

export function fromRefusalDocument(document: RefusalDocument): RefusalRecord {
  const { _id, at, application_id, account_id, grant_id, key_id, expires_at, ...rest } = document;
  return {
    id: fromId(_id),
    at: at.getTime(),
    ...rest,
    application_id: application_id && fromId(application_id),
    account_id: account_id && fromId(account_id),
    grant_id: grant_id && fromId(grant_id),
    key_id: key_id && fromId(key_id),
    expires_at: expires_at.getTime(),
  };
}
