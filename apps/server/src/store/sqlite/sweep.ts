import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '../../clock.ts';

// A sweep may come after a long stop; in parts it does not hold up the requests.
const MOST_IN_A_SWEEP = 1_000;

/** Deletes some of what is over by then; returns whether there may be more. */
export type Sweep = (now: Milliseconds) => boolean;

/**
 * Prepares the deletion of rows by their time.
 *
 * @param rows.key - the primary key of the table
 * @param rows.endsAt - the column that tells until when a row is good; there is an index on it
 * @param rows.only - a condition that a row has to meet besides
 */
export function prepareSweep(
  database: DatabaseSync,
  rows: { table: string; key: string; endsAt: string; only?: string },
): Sweep {
  const { table, key, endsAt, only = 'TRUE' } = rows;
  const sweep = database.prepare(`
    DELETE FROM ${table} WHERE ${only} AND ${key} IN
      (SELECT ${key} FROM ${table} WHERE ${endsAt} <= :now LIMIT ${MOST_IN_A_SWEEP})`);
  return (now) => sweep.run({ now }).changes === MOST_IN_A_SWEEP;
}
