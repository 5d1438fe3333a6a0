import type { DatabaseSync } from 'node:sqlite';
import type { WindowCount } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';

export function prepareRateLimits(database: DatabaseSync) {
  const add = database.prepare(`
    INSERT INTO rate_limit_counts (key, count, ends_at) VALUES (:key, :points, :now + :duration)
    ON CONFLICT (key) DO UPDATE SET
      count = iif(ends_at > :now, count, 0) + :points,
      -- A process whose clock is ahead must not start a window that outlasts one of ours.
      ends_at = iif(ends_at > :now, min(ends_at, excluded.ends_at), excluded.ends_at)
    RETURNING count, ends_at`);

  return {
    addToCount(addition: Parameters<Store['addToCount']>[0]): WindowCount {
      return { ...(add.get({ ...addition }) as unknown as WindowCount) };
    },
  };
}
