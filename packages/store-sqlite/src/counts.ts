import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { CountName, HourCounts, LiveCount } from '@latchkey/store/records';
import { liveChange, type Store } from '@latchkey/store/store';

type HourRow = { hour: number; counts: string };

type PendingRow = { code_expires_at: number; rowid: number };
type PlaceRow = { application_id: Uint8Array; id: Uint8Array };

export function prepareCounts(database: DatabaseSync) {
  const find = database.prepare('SELECT counts FROM hour_counts WHERE hour = ?');
  const put = database.prepare('REPLACE INTO hour_counts (hour, counts) VALUES (?, ?)');
  const list = database.prepare(
    'SELECT hour, counts FROM hour_counts WHERE hour >= :since AND hour < :until ORDER BY hour',
  );
  const changeLive = database.prepare('UPDATE live_count SET count = count + ?');
  const findLive = database.prepare('SELECT count, counted_at FROM live_count');
  const keepLive = database.prepare(`
    INSERT INTO live_count (name, count, counted_at) VALUES ('live', :count, :counted_at)
    ON CONFLICT (name) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`);
  const listUnrevoked = database.prepare(`
    SELECT application_id, id FROM grants INDEXED BY unrevoked_by_application
    WHERE revoked_at IS NULL AND (application_id, id) > (?, ?)
    ORDER BY application_id, id LIMIT ?`);
  const listPending = database.prepare(`
    SELECT code_expires_at, rowid FROM grants INDEXED BY grants_by_expiry
    WHERE code_expires_at IS NOT NULL AND (code_expires_at, rowid) > (?, ?)
    ORDER BY code_expires_at, rowid LIMIT ?`);

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

    // No index has active grants alone: they are what is not revoked, without the pending codes.
    countActiveGrants({ after, limit }: Parameters<Store['countActiveGrants']>[0]) {
      let pending = 0;
      let place = after ?? [0, 0];
      if (typeof place[0] === 'number') {
        const [time, rowid] = place;
        const rows = listPending.all(time as number, rowid as number, limit) as PendingRow[];
        const last = rows.at(-1);
        if (rows.length === limit && last) {
          return { count: -limit, after: [last.code_expires_at, last.rowid] };
        }
        pending = rows.length;
        place = [];
      }
      const [application_id = NO_ID, id = NO_ID] = place.map((one) => uuidToBytes(String(one)));
      const rows = listUnrevoked.all(application_id, id, limit) as PlaceRow[];
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return {
        count: rows.length - pending,
        after: last ? [uuidFromBytes(last.application_id), uuidFromBytes(last.id)] : null,
      };
    },

    keepLiveCount(live: LiveCount): void {
      keepLive.run({ ...live });
    },
  };
}

/** Less than every id. */
const NO_ID = new Uint8Array();
