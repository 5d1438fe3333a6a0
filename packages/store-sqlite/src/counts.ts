import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { CountName, HourCounts, LiveCount } from '@latchkey/store/records';
import { liveChange, type Store } from '@latchkey/store/store';
import { rangeParameters } from './rows.ts';

type HourRow = { hour: number; counts: string };

type PlaceRow = { application_id: Uint8Array; id: Uint8Array };

export function prepareCounts(database: DatabaseSync) {
  const find = database.prepare('SELECT counts FROM hour_counts WHERE hour = ?');
  const put = database.prepare('REPLACE INTO hour_counts (hour, counts) VALUES (?, ?)');
  const list = database.prepare(
    'SELECT hour, counts FROM hour_counts WHERE hour >= :since AND hour < :until ORDER BY hour',
  );
  const changeLive = database.prepare('UPDATE live_count SET count = count + ?');
  const findLive = database.prepare('SELECT count, counted_at FROM live_count');
  const claim = database.prepare(`
    INSERT INTO live_count (name, claimed_at) VALUES ('live', :now)
    ON CONFLICT (name) DO UPDATE SET claimed_at = :now
    WHERE (counted_at IS NULL OR abs(counted_at - :now) >= :every)
      AND (claimed_at IS NULL OR abs(claimed_at - :now) >= :claim_lasts)`);
  const keepLive = database.prepare(`
    INSERT INTO live_count (name, count, counted_at) VALUES ('live', :count, :counted_at)
    ON CONFLICT (name) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`);
  const listActive = database.prepare(`
    SELECT application_id, id FROM grants INDEXED BY unrevoked_by_application
    WHERE revoked_at IS NULL AND created_at IS NOT NULL AND (application_id, id) > (?, ?)
    ORDER BY application_id, id LIMIT ?`);

  return {
    addCounts({ hour, counts }: HourCounts): void {
      const found = find.get(hour) as HourRow | undefined;
      const sums: HourCounts['counts'] = found ? JSON.parse(found.counts) : {};
      for (const [name, count] of Object.entries(counts) as [CountName, number][]) {
        sums[name] = (sums[name] ?? 0) + count;
      }
      put.run(hour, JSON.stringify(sums));
      const change = liveChange(counts);
      if (change !== 0) changeLive.run(change);
    },

    listCounts({ since, until }: Parameters<Store['listCounts']>[0]): HourCounts[] {
      const rows = list.all({ since, until }) as HourRow[];
      return rows.map(({ hour, counts }) => ({ hour, counts: JSON.parse(counts) }));
    },

    findLiveCount(): LiveCount | null {
      const row = findLive.get() as LiveCount | { count: null; counted_at: null } | undefined;
      return row && row.count !== null ? { ...row } : null;
    },

    claimLiveCount: (asked: Parameters<Store['claimLiveCount']>[0]): boolean =>
      claim.run({ ...asked }).changes === 1,

    countActiveGrants({ after, limit }: Parameters<Store['countActiveGrants']>[0]) {
      const application_id = after ? uuidToBytes(after.application_id) : NO_ID;
      // Without a grant, behind all of the application.
      const id = after ? rangeParameters({ limit, before: after.grant_id }).before : NO_ID;
      const rows = listActive.all(application_id, id, limit) as PlaceRow[];
      const last = rows.length === limit ? rows.at(-1) : undefined;
      const place = last && {
        application_id: uuidFromBytes(last.application_id),
        grant_id: uuidFromBytes(last.id),
      };
      return { count: rows.length, after: place ?? null };
    },

    keepLiveCount(live: LiveCount): void {
      keepLive.run({ ...live });
    },
  };
}

/** Less than every id. */
const NO_ID = new Uint8Array();
