import { liveChange, type Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { FENCED } from './fence.ts';

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

export const hourCounts = (database: Database): Pick<Store, 'addCounts' | 'listCounts'> => ({
  async addCounts({ hour, counts }) {
    const values = [Object.keys(counts), Object.values(counts), liveChange(counts)];
    await database.write(ADD, [hour, ...values]);
  },

  async listCounts({ since, until }) {
    return (await database.read(LIST, [since, until])) as Awaited<ReturnType<Store['listCounts']>>;
  },
});
