import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { uuidFromBytes } from '@latchkey/schema';

// Goes from one endpoint with pending deliveries to the next one, however many wait for each, and however
// many other endpoints there are.
const WITH_PENDING = `
  WITH RECURSIVE pending (id) AS (
    SELECT min(endpoint_id) FROM deliveries WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(endpoint_id) FROM deliveries
      WHERE due_at IS NOT NULL AND endpoint_id > pending.id)
    FROM pending WHERE pending.id IS NOT NULL)`;

export function preparePending(database: DatabaseSync) {
  const listDue = database.prepare(`
    ${WITH_PENDING}
    SELECT id FROM pending
    WHERE EXISTS (SELECT 1 FROM deliveries WHERE endpoint_id = pending.id AND due_at <= ?)`);
  const countDue = database.prepare(`
    ${WITH_PENDING}
    SELECT count(*) AS pending FROM (SELECT 1 FROM pending
      JOIN deliveries d ON d.endpoint_id = pending.id AND d.due_at IS NOT NULL LIMIT :limit)`);
  const countRecorded = database.prepare(
    'SELECT count(*) AS pending, min(at) AS oldest_at FROM (SELECT at FROM marks LIMIT :limit)',
  );
  const findOldest = database.prepare(`
    ${WITH_PENDING}
    SELECT min((SELECT created_at FROM deliveries
      WHERE endpoint_id = pending.id AND status = 'pending' ORDER BY id LIMIT 1)) AS oldest_at
    FROM pending`);

  return {
    endpointsWithDue: (by: Milliseconds): string[] =>
      listDue.all(by).map(({ id }) => uuidFromBytes(id as Uint8Array)),

    countPending(limit: number) {
      const recorded = countRecorded.get({ limit }) as {
        pending: number;
        oldest_at: number | null;
      };
      const { pending } = countDue.get({ limit }) as { pending: number };
      const { oldest_at } = findOldest.get() as { oldest_at: number | null };
      const times = [recorded.oldest_at, oldest_at].filter((time) => time !== null);
      return {
        pending: Math.min(pending + recorded.pending, limit),
        oldest_at: times.length === 0 ? null : Math.min(...times),
      };
    },
  };
}
