import type { ByHand } from '@latchkey/store/operations/by-hand';
import { HOST_OWNER } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import { allOf, type Database } from './database.ts';
import { marked } from './documents.ts';
import { fromId, toDate, toId } from './values.ts';

/** No id is less. */
const firstId = toId(HOST_OWNER);

/** No date is later. */
const LATEST = 8_640_000_000_000_000;

interface Count {
  pending: number;
  oldest_at: Date;
}

/** What no condition says. What expires, MongoDB removes by itself. */
export function mongoByHand(database: Database): ByHand {
  const countMarks = (from: 'grants' | 'accounts' | 'applications', limit: number) =>
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

  const countDue = (limit: number) =>
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

  return {
    /** A few keys of the index for each endpoint. */
    async endpointsWithDue(by) {
      // With bounds on both fields, MongoDB goes from one endpoint to the next.
      const due = {
        endpoint_id: { $gte: firstId },
        due_at: { $lte: toDate(Math.min(by, LATEST)) },
      };
      const found = await database.readByIndex('deliveries_due', ({ deliveries }, listing) =>
        deliveries
          .aggregate<{ _id: Binary }>(
            [{ $match: due }, { $group: { _id: '$endpoint_id' } }],
            listing,
          )
          .toArray(),
      );
      return found.map(({ _id }) => fromId(_id));
    },

    async countPending(limit) {
      const marks = (['grants', 'accounts', 'applications'] as const).map((from) =>
        countMarks(from, limit),
      );
      const counts = (await allOf([...marks, countDue(limit)])).flat();
      const pending = counts.reduce((sum, count) => sum + count.pending, 0);
      const times = counts.map(({ oldest_at }) => oldest_at.getTime());
      return {
        pending: Math.min(pending, limit),
        oldest_at: times.length === 0 ? null : Math.min(...times),
      };
    },

    emptyLog: async () => true,
  };
}
