import type { Milliseconds } from '@latchkey/domain/clock';
import type { RecordOf } from '../kind.ts';
import type { accounts } from '../kinds.ts';
import type { EventCounts } from '../store.ts';

/** What no condition says, so each database does it by hand. */
export interface ByHand {
  /** Makes deliveries of every event that was acknowledged before the call. */
  tell(): Promise<void>;
  /** The ids of the endpoints that have a delivery due by then. */
  endpointsWithDue(by: Milliseconds): Promise<string[]>;
  countPending(limit: number): Promise<Omit<EventCounts, 'failing_endpoints'>>;
  /** Takes the bodies of each `account.updated` away. None that is stored later gets one. */
  eraseMessages(tombstone: Tombstone): Promise<void>;
}

/** What is left of an erased account. */
export interface Tombstone extends Pick<RecordOf<typeof accounts>, 'erased_by' | 'erased_until'> {
  account_id: string;
  erased_at: Milliseconds;
  /** What was made of the account before has a lesser one, and what is made once it is put again a greater one. */
  revision: number;
}
