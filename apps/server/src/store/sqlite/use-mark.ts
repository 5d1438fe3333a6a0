import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { UseMark, UseMarks } from '../use-mark.ts';
import { retryWhileLocked, rollBack } from './errors.ts';

export function useMarks(database: DatabaseSync): UseMarks {
  const read = database.prepare('SELECT mark FROM use_mark');

  function find(): UseMark | null {
    const row = read.get() as { mark: string } | undefined;
    return row === undefined ? null : JSON.parse(row.mark);
  }

  function replace(before: UseMark | null, after: UseMark): boolean {
    database.exec('BEGIN IMMEDIATE');
    try {
      const isMatch = isDeepStrictEqual(find(), before);
      if (isMatch) {
        database.exec('DELETE FROM use_mark');
        database.prepare('INSERT INTO use_mark (mark) VALUES (?)').run(JSON.stringify(after));
      }
      database.exec('COMMIT');
      return isMatch;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }

  return {
    find: () => retryWhileLocked(find),
    replace: (before, after) => retryWhileLocked(() => replace(before, after)),
  };
}
