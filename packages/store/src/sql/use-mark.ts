import { DEMO_ENDPOINT_ID } from '../events-keys.ts';
import type { ClaimedDatabase, UseMark, UseMarks } from '../use-mark.ts';
import type { SqlSender, SqlSite } from './sites.ts';
import type { Dialect, Statement } from './statement.ts';

/** The mark of a call, as it is stored. */
const given = (statement: Statement, name: 'before' | 'after') =>
  statement.raw((input) => JSON.stringify(input[name]), 'text');

export const markSite = ({ fenced }: Dialect): SqlSite<void, UseMark | null> => ({
  text: () => `SELECT mark FROM use_mark WHERE TRUE${fenced}`,
  result: ([row]) => (row === undefined ? null : JSON.parse(row.mark)),
});

/** Whether it was replaced. */
export const replacementSite = ({
  fenced,
}: Dialect): SqlSite<{ before: UseMark | null; after: UseMark }, boolean> => ({
  terms: [{ is: 'optional', given: 'before', isGiven: true, terms: [] }],
  text: (statement, { before }) =>
    before === null
      ? `INSERT INTO use_mark (mark) SELECT ${given(statement, 'after')} WHERE TRUE${fenced} ON CONFLICT DO NOTHING RETURNING TRUE`
      : `UPDATE use_mark SET mark = ${given(statement, 'after')} WHERE mark = ${given(statement, 'before')}${fenced} RETURNING TRUE`,
  result: ({ length }) => length === 1,
});

export function sqlUseMarks(dialect: Dialect, { read, write }: SqlSender): UseMarks {
  const replace = write(replacementSite(dialect));
  return {
    find: read(markSite(dialect)),
    replace: (before, after) => replace({ before, after }),
  };
}

/** @param name - in messages */
export const sqlClaimed = (dialect: Dialect, sender: SqlSender, name: string): ClaimedDatabase => ({
  ...sqlUseMarks(dialect, sender),
  name,
  hasEndpoints: sender.read<void, boolean>({
    text: () =>
      `SELECT 1 FROM endpoint_owners, ${dialect.eachOf}(ids) AS id WHERE id.value <> '${DEMO_ENDPOINT_ID}' LIMIT 1`,
    result: ({ length }) => length > 0,
  }),
});
