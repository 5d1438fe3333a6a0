import type { AccountRecord, StoredReason } from '@latchkey/store/records';
import type { Binary, Filter } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import type { MarkDocument } from './marks.ts';
import type { InitiatorDocument } from './values.ts';

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

/** In the words of the indexes `unrevoked_by_…`, where null is for an absent field. */
export const unrevoked = { revoked_at: null } as object as Filter<GrantDocument>;

export const withDetails = {
  created_at: { $exists: true },
  scope: { $exists: true },
} satisfies Filter<GrantDocument>;
