import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT } from '@latchkey/domain/lifetimes';
import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import type { Database } from './database.ts';
import { UNFENCED } from './fence.ts';

/** What another transaction has locked waits for the next sweep. What a failover brings back, too. */
function sweepOf(table: string, key: readonly string[], expiry: string, kept: Milliseconds) {
  const same = key.map((name) => `${table}.${name} = expired.${name}`);
  const text = `
    WITH expired AS MATERIALIZED (
      SELECT ${key.join(', ')} FROM ${table} WHERE ${expiry} <= $1 AND ${UNFENCED}
      ORDER BY ${expiry} LIMIT $2 FOR UPDATE SKIP LOCKED)
    DELETE FROM ${table} USING expired WHERE ${same.join(' AND ')} RETURNING TRUE`;
  return { text, kept };
}

const SWEEPS = [
  ...Object.values<AnyKind>(kinds).flatMap(({ name, key, expiry }) =>
    expiry ? sweepOf(name, [key], expiry.at, expiry.kept ?? 0) : [],
  ),
  sweepOf('rate_limit_counts', ['key'], 'ends_at', 0),
  sweepOf('hour_counts', ['hour', 'name'], 'hour', COUNTS_KEPT),
];

/**
 * Deletes what has expired.
 *
 * @param limit - of rows of each table
 * @returns whether there may be more
 */
export async function sweep(
  database: Database,
  now: Milliseconds,
  limit: number,
): Promise<boolean> {
  let isMore = false;
  for (const { text, kept } of SWEEPS) {
    const deleted = await database.write(text, [now - kept, limit]);
    isMore ||= deleted.length === limit;
  }
  return isMore;
}
