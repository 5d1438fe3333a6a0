import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { KeyFingerprints } from './events-keys.ts';
import type { CountedPlace } from './inputs.ts';
import type { operations } from './operations/operations.ts';
import type { HourCounts, LiveCount, RevokedRecord, WindowCount } from './records.ts';
import type { Claim, CopiedDatabase } from './use-mark.ts';

export * from './inputs.ts';

export interface StoreOptions {
  clock: Clock;
  /** Called with errors outside of any call, such as those of housekeeping, which is retried. */
  onError?: (error: unknown) => void;
  /** Called with a message for the operator; the store goes on. */
  onWarning?: (message: string) => void;
  /** Called once if the opened database is damaged, or another one is in its place: only a restart helps. */
  onLost?: (error: Error) => void;
  /**
   * Called within 10 s once a last copy has begun, perhaps several times. On SQLite there is none while
   * the database is open.
   */
  onCopied?: ((error: CopiedDatabase) => void) | undefined;
  /** Days after which a revoked grant is reduced to a {@link RevokedRecord}. Default: never. */
  revokedGrantDays?: number | null;
  /**
   * Whether to keep room on the disk for what ends something. Only SQLite can. Default: false, and what
   * another process keeps is used all the same.
   */
  keepsReserve?: boolean;
  /** Whether to create a missing database, and elsewhere than on SQLite missing indexes. Default: true. */
  create?: boolean;
  /** Whether changes are recorded as events: see EVENTS_KEY. Default: false. */
  recordsEvents?: boolean;
  /** For whoever may change records. Default: nothing is changed but by housekeeping. */
  claim?: Claim | undefined;
}

export interface ConnectionPool {
  inUse: number;
  idle: number;
  /** Calls that wait for a connection. */
  waiting: number;
  /** The most connections to one server; 0 for no limit. */
  limit: number;
}

interface Measures {
  database_bytes: number;
  /** Null if the database does not say. */
  free_bytes: number | null;
  /** When the last `latchkey backup` was made. */
  backed_up_at: Milliseconds | null;
}

/** What every store does in the same way: each method has its promise where it is written, in `operations`. */
type Operations = ReturnType<typeof operations>;

/**
 * The rules' port to a database: the methods of `operations`, and below what each database does by hand. Each method is
 * atomic. `packages/store-suite` holds every store to these promises:
 *
 * - Ids and hashes are well formed. Ids are lower-case UUIDs. The id of a new record is new: a
 *   taken one is a bug of the caller, and throws an ordinary error.
 * - An acknowledged write is on disk; on a replica set, on the disks of a majority. No crash and no
 *   failover undoes it. A read sees every write that was acknowledged before the read began, in any
 *   process.
 * - Every method throws a DomainError `store_unavailable` if the database does not respond; then
 *   nothing was changed. A write whose outcome can't be found out throws `outcome_unknown`, and so does
 *   each step behind a mark, since the mark has changed something. Such a write may still be made later,
 *   but never undoes a write that was acknowledged in between.
 * - What a mark ends (an erasure, a deletion or a revocation of all) is ended from its acknowledgment on,
 *   for every process and every method: a grant is revoked, as of the mark, and a code is none. That does
 *   not wait for any step of its {@link Work}. What is issued after the acknowledgment is not ended.
 */
export interface Store extends Operations {
  // The keys of endpoints

  /**
   * Notes that these keys sign for endpoints from now on. Without endpoints, any may.
   *
   * @throws BadSetting if its endpoints have secrets of other keys; then nothing has changed
   * @throws CopiedDatabase
   */
  admitEventsKeys(keys: KeyFingerprints): Promise<void>;

  /** The keys that were admitted, as in {@link knownAfter}. */
  findEventsKeys(): Promise<readonly string[] | undefined>;

  // What the summary is made of

  /**
   * Adds to the counts of an hour, and what these change of the number of active grants to the last
   * {@link LiveCount}. Concurrent calls all count. One that throws may have been counted. The counts of
   * an hour are deleted some time after {@link COUNTS_KEPT}.
   */
  addCounts(addition: HourCounts): Promise<void>;

  /** The counts of the hours that begin in this time, oldest first. An hour without any may be missing. */
  listCounts(time: { since: Milliseconds; until: Milliseconds }): Promise<HourCounts[]>;

  /** Null before the first count. */
  findLiveCount(): Promise<LiveCount | null>;

  /**
   * Counts a part of the active grants, by an index alone. May miss the latest changes.
   *
   * @param part.after - where the last part ended; null for the first one
   * @param part.limit - the most grants of the part
   * @returns what to add, which may be negative, and where the part ended; null at the end
   */
  countActiveGrants(part: {
    after: CountedPlace | null;
    limit: number;
  }): Promise<{ count: number; after: CountedPlace | null }>;

  keepLiveCount(live: LiveCount): Promise<void>;

  // Rate limits

  /**
   * Adds to the count of a key. If there is none, or its window has ended at `now`, a window of
   * `duration` begins. A window that would end later than a new one is shortened to it, since the
   * clock of another process may have been ahead. Each call of any process is counted once; one
   * that throws may have been counted. A failover may lose a count. The count is deleted some time
   * after its window.
   *
   * @param addition.points - negative to undo an addition
   * @returns the count with this addition
   */
  addToCount(addition: {
    key: string;
    points: number;
    now: Milliseconds;
    duration: Milliseconds;
  }): Promise<WindowCount>;

  // The store itself

  /** Undefined if the database works within the process. */
  connectionPool?(): ConnectionPool;

  /** How far the clock of a remote database is ahead of this machine's; negative if it is behind. */
  clockDifference?(): Milliseconds;

  /** For monitoring. */
  measure(): Promise<Measures>;

  /** Throws `store_unavailable` unless the database responds. */
  ping(): Promise<void>;

  /**
   * Waits for running calls, then closes the database. Later calls throw `store_unavailable`.
   * Idempotent.
   */
  close(): Promise<void>;
}

/** What each database counts by hand. */
export type Counts = Pick<
  Store,
  | 'addCounts'
  | 'listCounts'
  | 'findLiveCount'
  | 'countActiveGrants'
  | 'keepLiveCount'
  | 'addToCount'
>;
