import type { DeliveryRecord } from '@latchkey/store/records';
import type { Binary } from 'mongodb';

/** What is read and written of a delivery by hand. The kind has all of it. */
export interface DeliveryDocument extends Pick<DeliveryRecord, 'type' | 'status'> {
  _id: Binary;
  endpoint_id: Binary;
  event_id: Binary;
  account_id?: Binary;
  /** Of the account when an `account.updated` was made. An erasure takes bodies of earlier ones away. */
  account_revision?: number;
  /** Absent for a moment while an `account.updated` is made, too. */
  body?: string;
  created_at: Date;
  due_at?: Date;
  claim?: string;
  ended_at?: Date;
  round?: Binary;
}
