import type { AccountRecord, StoredReason } from '@latchkey/store/records';
import { Binary, type Filter } from 'mongodb';
import type { Versioned } from '../revisions.ts';
import type { MarkDocument } from './marks.ts';
import { type InitiatorDocument, toId } from './values.ts';

/** What is read and written of a grant by hand. The kind has all of it. */
export interface GrantDocument extends Versioned {
  _id: Binary;
  application_id: Binary;
  account_id?: Binary;
  account_revision?: number;
  scope?: string;
  account?: AccountRecord;
  link_id?: Binary;
  code_expires_at?: Date;
  created_at?: Date;
  secret_hash?: Binary;
  last_used_at?: Date;
  revoked_at?: Date;
  revoked_by?: InitiatorDocument;
  revoked_reason?: StoredReason;
  /** Absent for none. */
  marks?: MarkDocument[];
}

/** Of active grants, in words that the keys of an index answer alone. */
export const hasSecret = {
  secret_hash: { $gte: new Binary(new Uint8Array()) },
} satisfies Filter<GrantDocument>;

export const firstId = toId('00000000-0000-0000-0000-000000000000');
