import { liveChange, type Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { FENCED } from './fence.ts';

type Counts = Pick<
  Store,
  'addCounts' | 'listCounts' | 'findLiveCount' | 'countActiveGrants' | 'keepLiveCount'
>;

/** In the order of the names, so that two of them never wait for each other. */
const ADD = `
  WITH live AS (UPDATE live_count SET count = count + $4 WHERE $4 <> 0)
  INSERT INTO hour_counts AS found (hour, name, count)
  SELECT $1::bigint, name, count FROM unnest($2::text[], $3::bigint[]) AS added (name, count)
  WHERE ${FENCED} ORDER BY name COLLATE "C"
  ON CONFLICT (hour, name) DO UPDATE SET count = found.count + excluded.count`;

const LIST = `
  SELECT hour, json_object_agg(name, count ORDER BY name) AS counts FROM hour_counts
  WHERE hour >= $1 AND hour < $2 GROUP BY hour ORDER BY hour`;

/**
 * No index has active grants alone: they are what is not revoked, without the pending codes.
 *
 * @param key - of an index that has them
 */
const walk = (key: string, condition: string) => `
  WITH part AS MATERIALIZED (
    SELECT ${key} FROM grants WHERE ${condition} AND (${key}) > ($1, $2) ORDER BY ${key} LIMIT $3)
  SELECT ${key}, (SELECT count(*) FROM part) AS count FROM part
  ORDER BY ${key.replaceAll(',', ' DESC,')} DESC LIMIT 1`;
const CODES = walk('account_id, id', 'code_expires_at IS NOT NULL');
const UNREVOKED = walk('application_id, id', 'revoked_at IS NULL');

/** Less than every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

export function counts(database: Database): Counts {
  return {
    async addCounts({ hour, counts }) {
      const values = [Object.keys(counts), Object.values(counts), liveChange(counts)];
      await database.write(ADD, [hour, ...values]);
    },

    async listCounts({ since, until }) {
      return (await database.read(LIST, [since, until])) as Awaited<
        ReturnType<Store['listCounts']>
      >;
    },

    async findLiveCount() {
      const [found] = await database.read(
        'SELECT count, counted_at FROM live_count WHERE count IS NOT NULL',
      );
      return (found as Awaited<ReturnType<Store['findLiveCount']>>) ?? null;
    },

    async countActiveGrants({ after, limit }) {
      const [stage = 'codes', ...place] = (after ?? []) as readonly string[];
      const [first = NO_ID, second = NO_ID] = place;
      const values = [first, second, limit];
      if (stage === 'codes') {
        const [part] = await database.read(CODES, values);
        const pending = part?.count ?? 0;
        const next = pending < limit ? ['unrevoked'] : [stage, part?.account_id, part?.id];
        return { count: 0 - pending, after: next };
      }
      const [part] = await database.read(UNREVOKED, values);
      const count = part?.count ?? 0;
      if (count < limit) return { count, after: null };
      return { count, after: [stage, part?.application_id, part?.id] };
    },

    async keepLiveCount({ count, counted_at }) {
      await database.write(
        `INSERT INTO live_count (name, count, counted_at) SELECT 'live', $1::bigint, $2::bigint WHERE ${FENCED}
         ON CONFLICT (name) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`,
        [count, counted_at],
      );
    },
  };
}
