import type { Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { toDate } from './documents/values.ts';
import { isDuplicateKey } from './errors.ts';

export function rateLimits(database: Database): Pick<Store, 'addToCount'> {
  return {
    addToCount: ({ key, points, now, duration }) =>
      database.writeOnce(async ({ rateLimitCounts, bestEffort }) => {
        const end = toDate(now + duration);
        // False for a new document, since a missing field is less than any date.
        const isRunning = { $gt: ['$ends_at', toDate(now)] };
        const add = () =>
          rateLimitCounts.findOneAndUpdate(
            { _id: key },
            [
              {
                $set: {
                  count: { $add: [{ $cond: [isRunning, '$count', 0] }, points] },
                  // A process whose clock is ahead must not extend the window.
                  ends_at: { $cond: [isRunning, { $min: ['$ends_at', end] }, end] },
                },
              },
            ],
            { ...bestEffort, upsert: true, returnDocument: 'after' },
          );
        // Another upsert inserted the key at the same time. MongoDB does not always retry that.
        const counted = await add().catch((error: unknown) => {
          if (isDuplicateKey(error)) return add();
          throw error;
        });
        if (counted === null) throw new TypeError('An upsert returned no document.');
        return { count: counted.count, ends_at: counted.ends_at.getTime() };
      }),
  };
}
