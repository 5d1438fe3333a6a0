import type { EventCounts } from '@latchkey/store/store';
import type { Collection } from 'mongodb';
import { allOf, type Database } from './database.ts';
import { type MarkDocument, marked } from './documents/marks.ts';
import { existingOwners } from './find-owners.ts';

interface Count {
  pending: number;
  oldest_at: Date;
}

export async function countEvents(database: Database, limit: number): Promise<EventCounts> {
  const marks = ['grants', 'accounts', 'applications'] as const;
  const [failing_endpoints, counts] = await Promise.all([
    countFailing(database),
    allOf([...marks.map((from) => countMarks(database, from, limit)), countDue(database, limit)]),
  ]);
  const times = counts.flat().map(({ oldest_at }) => oldest_at.getTime());
  const pending = counts.flat().reduce((sum, count) => sum + count.pending, 0);
  return {
    pending: Math.min(pending, limit),
    oldest_at: times.length === 0 ? null : Math.min(...times),
    failing_endpoints,
  };
}

const countMarks = (
  database: Database,
  from: 'grants' | 'accounts' | 'applications',
  limit: number,
): Promise<Count[]> =>
  database.readByIndex(`${from}_to_tell`, (collections, listing) =>
    (collections[from] as unknown as Collection<{ marks: MarkDocument[] }>)
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

const countFailing = (database: Database): Promise<number> =>
  database.read(async ({ endpoints, listing }) => {
    const isFailing = {
      failing_since: { $exists: true },
      disabled_reason: { $exists: false },
    };
    const [counted] = await endpoints
      .aggregate<{ failing: number }>(
        [
          { $match: { endpoints: { $elemMatch: isFailing } } },
          ...existingOwners,
          { $unwind: '$endpoints' },
          {
            $match: {
              'endpoints.failing_since': { $exists: true },
              'endpoints.disabled_reason': { $exists: false },
            },
          },
          { $count: 'failing' },
        ],
        listing,
      )
      .toArray();
    return counted?.failing ?? 0;
  });
