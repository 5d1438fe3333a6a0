import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT, DELIVERIES_KEPT } from '@latchkey/domain/lifetimes';
import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import { EXISTING } from './endpoints.ts';

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
    prepare('deliveries', 'id', 'ended_at', DELIVERIES_KEPT),
    prepareEndpoints(database),
    prepare('rate_limit_counts', 'key', 'ends_at', 0),
    prepare('hour_counts', 'hour', 'hour', COUNTS_KEPT),
  ];
}

/** Of deleted applications, once all is told. */
function prepareEndpoints(database: DatabaseSync): Sweep {
  const sweep = database.prepare(`
    DELETE FROM endpoints WHERE NOT ${EXISTING} AND NOT EXISTS
      (SELECT 1 FROM deliveries WHERE endpoint_id = endpoints.id AND due_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM outbox LIMIT 1)
    AND application_id NOT IN (SELECT id FROM applications WHERE deletion_pending IS NOT NULL)`);
  return () => {
    sweep.run();
    return false;
  };
}
