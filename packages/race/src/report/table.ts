import type { RowResult } from '../measure.ts';
import type { Verdict } from '../rows/row.ts';
import type { Report } from '../run.ts';
import { outcomeOf, responseOf, summaryOf } from './words.ts';

const SIGNS: Record<Verdict, string> = {
  pass: '✓ pass ',
  fail: '✗ FAIL ',
  note: '· note ',
  error: '! error',
  skipped: '- skip ',
};

/** The report for a terminal. */
export function tableOf({ rows, load }: Report): string {
  const width = Math.max(...rows.map(({ id }) => id.length));
  const lines = rows.flatMap((row) => rowLines(row, width));
  return `${[...lines, `${summaryOf(rows)}. Seed ${load.seed}.`].join('\n')}\n`;
}

function rowLines(row: RowResult, width: number): string[] {
  const first = `${SIGNS[row.verdict]}  ${row.id.padEnd(width)}  ${row.title}: ${outcomeOf(row)}`;
  const indent = ' '.repeat(width + 11);
  return [first, ...row.responses.map((response) => `${indent}${responseOf(response)}`)];
}
