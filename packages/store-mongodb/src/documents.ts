import type { EventType } from '@latchkey/schema';
import type { HourCounts } from '@latchkey/store/records';
import { Binary } from 'mongodb';

// What is read and written by hand. The kinds have the rest of it.

export interface GrantDocument {
  _id: Binary;
  application_id: Binary;
  account_id?: Binary;
  secret_hash?: Binary;
}

/** Of active grants, in words that the keys of an index answer alone. */
export const hasSecret = { secret_hash: { $gte: new Binary(new Uint8Array()) } };

export interface DeliveryDocument {
  _id: Binary;
  endpoint_id: Binary;
  created_at: Date;
  due_at?: Date;
}

/** An event of the document that is no delivery yet. A grant has each type once at most. */
export interface MarkDocument {
  type: EventType;
  at: Date;
  /** Of the event. Absent if that is made of its grant. */
  id?: Binary;
  /** Of the application: it may be gone when it is told. */
  name?: string;
}

/** In the words of the indexes of marks. */
export const marked = { 'marks.at': { $exists: true } };

export interface HourDocument {
  _id: Date;
  /** The `_id` again, which cannot have an expiry. */
  hour: Date;
  counts: HourCounts['counts'];
}

/** In the same collection. Without an hour, it does not expire. */
export interface LiveCountDocument {
  _id: 'live';
  /** This and the next are absent before the first count. */
  count?: number;
  counted_at?: Date;
}

export interface RateLimitDocument {
  _id: string;
  count: number;
  ends_at: Date;
}
