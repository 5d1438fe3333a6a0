import type { HourCounts } from '@latchkey/store/records';

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
