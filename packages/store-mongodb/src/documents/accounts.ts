import type { AccountRecord } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import type { NumberedMarkDocument } from './marks.ts';
import type { InitiatorDocument } from './values.ts';

/** What is read of an account by hand. The kind has all of it. */
export interface AccountDocument extends Versioned {
  _id: Binary;
  /** Absent while it is erased. */
  account?: AccountRecord;
  erased_at?: Date;
  erased_by?: InitiatorDocument;
  /** One at most; absent for none. */
  marks?: NumberedMarkDocument[];
}

export const isErased = ({ account }: AccountDocument) => account === undefined;

export const fromAccountDocument = ({ account }: AccountDocument) => account as AccountRecord;
