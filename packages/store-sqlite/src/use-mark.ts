import type { DatabaseSync } from 'node:sqlite';
import { markSite, replacementSite } from '@latchkey/store/sql/by-hand';
import type { UseMark, UseMarks } from '@latchkey/store/use-mark';
import { dialect, workOf } from './adapter.ts';
import { retryWhileLocked } from './errors.ts';

export function useMarks(database: DatabaseSync): UseMarks {
  const { find, replace } = prepareUseMarks(database);
  return {
    find: () => retryWhileLocked(find),
    replace: (before, after) => retryWhileLocked(() => replace(before, after)),
  };
}

/** The same, for a transaction. */
export function prepareUseMarks(database: DatabaseSync) {
  const replace = workOf(database, replacementSite(dialect));
  return {
    find: workOf(database, markSite(dialect)),
    replace: (before: UseMark | null, after: UseMark) => replace({ before, after }),
  };
}
