import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT, DELIVERIES_KEPT, LINKS_KEPT } from '@latchkey/domain/lifetimes';
import type { StoreOptions } from '@latchkey/store/store';
import { EXISTING } from './endpoints.ts';

// Small batches, so that requests run in between, however long the service was stopped.
const BATCH_SIZE = 1_000;

/** @returns whether there may be more */
export type Sweep = (now: Milliseconds) => boolean;

const DAY: Milliseconds = 86_400_000;

export function prepareSweeps(
  database: DatabaseSync,
  revokedGrantDays: StoreOptions['revokedGrantDays'] = null,
): Sweep[] {
  function prepare(
    table: string,
    key: string,
    expiry: string,
    { condition = 'TRUE', kept = 0 }: { condition?: string; kept?: Milliseconds } = {},
  ): Sweep {
    const sweep = database.prepare(`
      DELETE FROM ${table} WHERE ${condition} AND ${key} IN
        (SELECT ${key} FROM ${table} WHERE ${expiry} <= :before LIMIT ${BATCH_SIZE})`);
    return (now) => sweep.run({ before: now - kept }).changes === BATCH_SIZE;
  }
  return [
    // The condition guards against deleting a grant.
    prepare('grants', 'id', 'code_expires_at', { condition: 'created_at IS NULL' }),
    prepare('links', 'id', 'expires_at', { kept: LINKS_KEPT }),
    prepare('pages', 'id', 'expires_at', { kept: LINKS_KEPT }),
    prepare('refusals', 'id', 'expires_at'),
    prepare('deliveries', 'id', 'ended_at', { kept: DELIVERIES_KEPT }),
    prepareEndpoints(database),
    prepare('rate_limit_counts', 'key', 'ends_at'),
    prepare('hour_counts', 'hour', 'hour', { kept: COUNTS_KEPT }),
    ...(revokedGrantDays === null ? [] : [prepareReduction(database, revokedGrantDays * DAY)]),
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

function prepareReduction(database: DatabaseSync, age: Milliseconds): Sweep {
  // Each revocation has to write to the index.
  database.exec(`
    CREATE INDEX IF NOT EXISTS revoked_grants_with_details ON grants (revoked_at)
    WHERE revoked_at IS NOT NULL AND account_id IS NOT NULL`);
  const reduce = database.prepare(`
    UPDATE grants SET account_id = NULL, scope = NULL, account = NULL, code_hash = NULL,
      redirect_uri = NULL, redirect_uri_given = 0, code_challenge = NULL, resource = NULL,
      link_id = NULL,
      issued_by = NULL, redeemed_by = NULL, first_used_at = NULL, first_used_by = NULL,
      last_used_at = NULL,
      recoveries = 0, recovered_at = NULL, recovered_by = NULL, revoked_by = NULL,
      revoked_reason = NULL
    WHERE id IN (SELECT id FROM grants
      WHERE revoked_at <= :before AND account_id IS NOT NULL LIMIT ${BATCH_SIZE})`);
  return (now) => reduce.run({ before: now - age }).changes === BATCH_SIZE;
}
