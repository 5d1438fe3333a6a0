import type { Milliseconds } from '@latchkey/domain/clock';
import type { EventCounts } from '@latchkey/store/store';
import type { Database } from './database.ts';

/**
 * Goes from one endpoint with pending deliveries to the next one, however many wait for each, and however many other
 * endpoints there are.
 */
const next = (condition: string) => `(
  SELECT endpoint_id FROM deliveries WHERE due_at IS NOT NULL ${condition} ORDER BY endpoint_id LIMIT 1)`;
const WITH_PENDING = `
  WITH RECURSIVE pending (id) AS (
    SELECT ${next('')}
    UNION ALL
    SELECT ${next('AND endpoint_id > pending.id')} FROM pending WHERE pending.id IS NOT NULL)`;

const LIST_DUE = `
  ${WITH_PENDING}
  SELECT id FROM pending
  WHERE EXISTS (SELECT 1 FROM deliveries WHERE endpoint_id = pending.id AND due_at <= $1)`;

const COUNT = `
  ${WITH_PENDING},
  recorded AS (SELECT at FROM marks LIMIT $1),
  due AS (
    SELECT 1 FROM pending JOIN deliveries ON endpoint_id = pending.id AND due_at IS NOT NULL LIMIT $1),
  oldest AS (
    SELECT (SELECT created_at FROM deliveries
      WHERE endpoint_id = pending.id AND status = 'pending' ORDER BY id LIMIT 1) AS at
    FROM pending)
  SELECT least($1, (SELECT count(*) FROM recorded) + (SELECT count(*) FROM due)) AS pending,
    least((SELECT min(at) FROM recorded), (SELECT min(at) FROM oldest)) AS oldest_at`;

export async function countPending(
  database: Database,
  limit: number,
): Promise<Omit<EventCounts, 'failing_endpoints'>> {
  const [counted] = await database.read(COUNT, [limit]);
  return counted as Omit<EventCounts, 'failing_endpoints'>;
}

/** The ids of endpoints that have a delivery due by then. */
export async function endpointsWithDue(database: Database, by: Milliseconds): Promise<string[]> {
  const found = await database.read(LIST_DUE, [Math.min(by, Number.MAX_SAFE_INTEGER)]);
  return found.map(({ id }) => id);
}
