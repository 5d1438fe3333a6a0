import type { Milliseconds } from '@latchkey/domain/clock';
import type { EventCounts } from '../store.ts';

/** What no condition says, so each database does it by hand. */
export interface ByHand {
  /** The ids of the endpoints that have a delivery due by then. */
  endpointsWithDue(by: Milliseconds): Promise<string[]>;
  /** Whether what the database keeps besides its records has nothing that was deleted. May make it so. */
  isLogEmpty(): Promise<boolean>;
  countPending(limit: number): Promise<Omit<EventCounts, 'failing_endpoints'>>;
}
