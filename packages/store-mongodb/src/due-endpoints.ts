import type { Binary } from 'mongodb';
import type { Database } from './database.ts';
import { HOST } from './documents/endpoints.ts';

/** The ids of endpoints that have a delivery due by then: a few keys of the index for each of them. */
export async function endpointsWithDue(database: Database, by: Date): Promise<Binary[]> {
  // With bounds on both fields, MongoDB goes from one endpoint to the next.
  const due = { endpoint_id: { $gte: HOST }, due_at: { $lte: by } };
  const found = await database.readByIndex('deliveries_due', ({ deliveries }, listing) =>
    deliveries
      .aggregate<{ _id: Binary }>([{ $match: due }, { $group: { _id: '$endpoint_id' } }], listing)
      .toArray(),
  );
  return found.map(({ _id }) => _id);
}
