import type { DatabaseSync } from 'node:sqlite';
import type { WindowCount } from '../records.ts';
import type { Store } from '../store.ts';
import { prepareSweep } from './sweep.ts';

/** The statements on the counts of rate limits, prepared. All are synchronous. */
export function prepareRateLimits(database: DatabaseSync) {
  const add = database.prepare(`
    INSERT INTO rate_limit_counts (key, count, ends_at) VALUES (:key, :points, :now + :duration)
    ON CONFLICT (key) DO UPDATE SET
      count = iif(ends_at > :now, count, 0) + :points,
      ends_at = iif(ends_at > :now, ends_at, excluded.ends_at)
    RETURNING count, ends_at`);
  const sweepCounts = prepareSweep(database, {
    table: 'rate_limit_counts',
    key: 'key',
    endsAt: 'ends_at',
  });

  return {
    addToCount(addition: Parameters<Store['addToCount']>[0]): WindowCount {
      return { ...(add.get({ ...addition }) as unknown as WindowCount) };
    },

    /** Deletes counts whose window has ended. */
    sweepCounts,
  };
}
