import type { Milliseconds } from '@latchkey/domain/clock';
import { HOST_OWNER } from '@latchkey/store/records';
import type { EventCounts } from '@latchkey/store/store';
import type { Binary } from 'mongodb';
import { allOf, type Database } from './database.ts';
import { marked } from './documents/marks.ts';
import { fromId, toDate, toId } from './documents/values.ts';

interface Count {
  pending: number;
  oldest_at: Date;
}

export async function countPending(
  database: Database,
  limit: number,
): Promise<Omit<EventCounts, 'failing_endpoints'>> {
  const marks = ['grants', 'accounts', 'applications'] as const;
  const counts = (
    await allOf([
      ...marks.map((from) => countMarks(database, from, limit)),
      countDue(database, limit),
    ])
  ).flat();
  const times = counts.map(({ oldest_at }) => oldest_at.getTime());
  const pending = counts.reduce((sum, count) => sum + count.pending, 0);
  return {
    pending: Math.min(pending, limit),
    oldest_at: times.length === 0 ? null : Math.min(...times),
  };
}

const countMarks = (
  database: Database,
  from: 'grants' | 'accounts' | 'applications',
  limit: number,
): Promise<Count[]> =>
  database.readByIndex(`${from}_to_tell`, ({ db }, listing) =>
    db
      .collection(from)
      .aggregate<Count>(
        [
          { $match: marked },
          { $sort: { 'marks.at': 1 } },
          { $limit: limit },
          {
            $group: {
              _id: null,
              pending: { $sum: { $size: '$marks' } },
              oldest_at: { $min: { $min: '$marks.at' } },
            },
          },
        ],
        listing,
      )
      .toArray(),
  );

const countDue = (database: Database, limit: number): Promise<Count[]> =>
  database.readByIndex('deliveries_pending', ({ deliveries }, listing) =>
    deliveries
      .aggregate<Count>(
        [
          { $match: { due_at: { $exists: true } } },
          { $sort: { created_at: 1 } },
          { $limit: limit },
          { $group: { _id: null, pending: { $sum: 1 }, oldest_at: { $min: '$created_at' } } },
        ],
        listing,
      )
      .toArray(),
  );

/** The ids of endpoints that have a delivery due by then: a few keys of the index for each of them. */
export async function endpointsWithDue(database: Database, by: Milliseconds): Promise<string[]> {
  // With bounds on both fields, MongoDB goes from one endpoint to the next.
  const due = {
    endpoint_id: { $gte: toId(HOST_OWNER) },
    due_at: { $lte: toDate(Math.min(by, LATEST)) },
  };
  const found = await database.readByIndex('deliveries_due', ({ deliveries }, listing) =>
    deliveries
      .aggregate<{ _id: Binary }>([{ $match: due }, { $group: { _id: '$endpoint_id' } }], listing)
      .toArray(),
  );
  return found.map(({ _id }) => fromId(_id));
}

/** No date is later. */
const LATEST = 8_640_000_000_000_000;
