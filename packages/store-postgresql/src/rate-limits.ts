import type { WindowCount } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { UNFENCED } from './fence.ts';

/** A process whose clock is ahead must not start a window that outlasts one of ours. */
const ADD = `
  INSERT INTO rate_limit_counts AS found (key, count, ends_at)
  SELECT $1::text, $2::bigint, $3::bigint + $4::bigint WHERE ${UNFENCED}
  ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN found.ends_at > $3 THEN found.count ELSE 0 END + excluded.count,
    ends_at = CASE WHEN found.ends_at > $3 THEN least(found.ends_at, excluded.ends_at) ELSE excluded.ends_at END
  RETURNING count, ends_at`;

export function rateLimits(database: Database): Pick<Store, 'addToCount'> {
  return {
    async addToCount({ key, points, now, duration }) {
      const [counted] = await database.write(ADD, [key, points, now, duration]);
      return counted as WindowCount;
    },
  };
}
