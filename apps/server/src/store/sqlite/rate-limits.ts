import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '../../clock.ts';
import type { WindowCount } from '../records.ts';
import type { Store } from '../store.ts';

// A sweep in parts does not hold up the requests.
const MOST_IN_A_SWEEP = 1_000;

/** The statements on the counts of rate limits, prepared. All are synchronous. */
export function prepareRateLimits(database: DatabaseSync) {
  const add = database.prepare(`
    INSERT INTO rate_limit_counts (key, count, ends_at) VALUES (:key, :points, :now + :duration)
    ON CONFLICT (key) DO UPDATE SET
      count = iif(ends_at > :now, count, 0) + :points,
      ends_at = iif(ends_at > :now, ends_at, excluded.ends_at)
    RETURNING count, ends_at`);
  const sweep = database.prepare(`
    DELETE FROM rate_limit_counts WHERE key IN
      (SELECT key FROM rate_limit_counts WHERE ends_at <= :now LIMIT ${MOST_IN_A_SWEEP})`);

  return {
    addToCount(addition: Parameters<Store['addToCount']>[0]): WindowCount {
      return { ...(add.get({ ...addition }) as unknown as WindowCount) };
    },

    /** Deletes counts whose window has ended; returns whether there may be more. */
    sweepCounts(now: Milliseconds): boolean {
      return sweep.run({ now }).changes === MOST_IN_A_SWEEP;
    },
  };
}
