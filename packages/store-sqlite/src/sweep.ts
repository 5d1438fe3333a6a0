import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT } from '@latchkey/domain/lifetimes';
import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';

// Small batches, so that requests run in between, however long the service was stopped.
const BATCH_SIZE = 1_000;

/** @returns whether there may be more */
export type Sweep = (now: Milliseconds) => boolean;

export function prepareSweeps(database: DatabaseSync): Sweep[] {
  const prepare = (table: string, key: string, expiry: string, kept: Milliseconds): Sweep => {
    const sweep = database.prepare(`
      DELETE FROM ${table} WHERE ${key} IN
        (SELECT ${key} FROM ${table} WHERE ${expiry} <= :before LIMIT ${BATCH_SIZE})`);
    return (now) => sweep.run({ before: now - kept }).changes === BATCH_SIZE;
  };
  return [
    ...Object.values<AnyKind>(kinds).flatMap(({ name, key, expiry }) =>
      expiry ? prepare(name, key, expiry.at, expiry.kept ?? 0) : [],
    ),
    prepare('rate_limit_counts', 'key', 'ends_at', 0),
    prepare('hour_counts', 'hour', 'hour', COUNTS_KEPT),
  ];
}
