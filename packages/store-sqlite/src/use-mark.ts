import type { DatabaseSync } from 'node:sqlite';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import type { UseMark, UseMarks } from '@latchkey/store/use-mark';
import { retryWhileLocked } from './errors.ts';

export function useMarks(database: DatabaseSync): UseMarks {
  const { find, replace } = prepareUseMarks(database);
  return {
    find: () => retryWhileLocked(find),
    replace: (before, after) => retryWhileLocked(() => replace(before, after)),
  };
}

export function prepareFindUseMark(database: DatabaseSync): () => UseMark | null {
  const read = database.prepare('SELECT mark FROM use_mark');
  return () => {
    const row = read.get() as { mark: string } | undefined;
    return row === undefined ? null : JSON.parse(row.mark);
  };
}

export function prepareHasEndpoints(database: DatabaseSync): () => boolean {
  const find = database.prepare(
    'SELECT 1 FROM endpoint_owners, json_each(ids) WHERE value != ? LIMIT 1',
  );
  return () => find.get(DEMO_ENDPOINT_ID) !== undefined;
}

/** The same, for a transaction. */
export function prepareUseMarks(database: DatabaseSync) {
  const insert = database.prepare(
    'INSERT INTO use_mark SELECT :after WHERE NOT EXISTS (SELECT 1 FROM use_mark)',
  );
  const update = database.prepare('UPDATE use_mark SET mark = :after WHERE mark = :before');

  return {
    find: prepareFindUseMark(database),

    replace(before: UseMark | null, mark: UseMark): boolean {
      const after = JSON.stringify(mark);
      const { changes } =
        before === null
          ? insert.run({ after })
          : update.run({ before: JSON.stringify(before), after });
      return changes === 1;
    },
  };
}
