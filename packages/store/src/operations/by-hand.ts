import type { Milliseconds } from '@latchkey/domain/clock';
import type { EventCounts } from '../inputs.ts';

/** What no condition says, so each database does it by hand. */
export interface ByHand {
  /** The ids of the endpoints that have a delivery due by then. */
  endpointsWithDue(by: Milliseconds): Promise<string[]>;
  /**
   * Tries to leave nothing of it in the log of the database, of what was deleted before the first call about it.
   *
   * @returns false if somebody reads the log
   */
  emptyLog(deleted: string): Promise<boolean>;
  /**
   * Removes some of what has expired, at most `limit` of each kind. Left out if the database does so by itself.
   *
   * @returns whether there may be more
   */
  sweepExpired?(now: Milliseconds, limit: number): Promise<boolean>;
  countPending(limit: number): Promise<Omit<EventCounts, 'failing_endpoints'>>;
}
