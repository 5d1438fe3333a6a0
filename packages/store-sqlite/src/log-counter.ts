import type { DatabaseSync } from 'node:sqlite';
import { LOG_COUNTER } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';

/** For a database that may not be changed. */
export function readLogNumber(database: DatabaseSync): number {
  const row = database.prepare('SELECT number FROM log_counter').get();
  return (row?.number as number | undefined) ?? 0;
}

export function prepareLogCounter(database: DatabaseSync) {
  const take = database.prepare(`
    INSERT INTO log_counter (name, number) VALUES (:name, :above + :count)
    ON CONFLICT (name) DO UPDATE SET number = max(number, :above) + :count
    RETURNING number`);

  return {
    takeLogNumbers({ count, above = 0 }: Parameters<Store['takeLogNumbers']>[0]): number {
      return take.get({ name: LOG_COUNTER, count, above })?.number as number;
    },
  };
}
