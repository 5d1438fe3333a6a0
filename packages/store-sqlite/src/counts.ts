import type { DatabaseSync } from 'node:sqlite';
import type { CountName, HourCounts } from '@latchkey/store/records';
import { liveChange, type Store } from '@latchkey/store/store';
import { workOf } from './adapter.ts';

export function prepareCounts(database: DatabaseSync) {
  const find = workOf<HourCounts, HourCounts['counts']>(database, {
    text: (statement) =>
      `SELECT counts FROM hour_counts WHERE hour = ${statement.given('hour', 'time')}`,
    result: ([row]) => (row === undefined ? {} : JSON.parse(row.counts)),
  });
  const put = workOf<HourCounts, void>(database, {
    text: (statement) =>
      `REPLACE INTO hour_counts (hour, counts) VALUES (${statement.given('hour', 'time')}, ${statement.given('counts', 'json')})`,
    result: () => undefined,
  });
  const changeLive = workOf<{ change: number }, void>(database, {
    text: (statement) =>
      `UPDATE live_count SET count = count + ${statement.given('change', 'number')}`,
    result: () => undefined,
  });
  const list = workOf<Parameters<Store['listCounts']>[0], HourCounts[]>(database, {
    text: (statement) =>
      `SELECT hour, counts FROM hour_counts WHERE hour >= ${statement.given('since', 'time')} AND hour < ${statement.given('until', 'time')} ORDER BY hour`,
    result: (rows) => rows.map(({ hour, counts }) => ({ hour, counts: JSON.parse(counts) })),
  });

  return {
    addCounts({ hour, counts }: HourCounts): void {
      const sums = find({ hour, counts });
      for (const [name, count] of Object.entries(counts) as [CountName, number][]) {
        sums[name] = (sums[name] ?? 0) + count;
      }
      put({ hour, counts: sums });
      const change = liveChange(counts);
      if (change !== 0) changeLive({ change });
    },

    listCounts: list,
  };
}
