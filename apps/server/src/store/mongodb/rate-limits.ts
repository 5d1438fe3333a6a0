import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { type RateLimitDocument, toDate } from './documents.ts';
import { isDuplicateKey } from './errors.ts';

export function rateLimits(connection: Connection): Pick<Store, 'addToCount'> {
  return {
    addToCount: ({ key, points, now, duration }) =>
      connection.writeCasually(async ({ rateLimitCounts, bestEffort }) => {
        const runs = { $gt: ['$ends_at', toDate(now)] };
        const add = () =>
          rateLimitCounts.findOneAndUpdate(
            { _id: key },
            [
              {
                $set: {
                  count: { $add: [{ $cond: [runs, '$count', 0] }, points] },
                  ends_at: { $cond: [runs, '$ends_at', toDate(now + duration)] },
                },
              },
            ],
            { ...bestEffort, returnDocument: 'after' },
          );
        const begin = async (): Promise<RateLimitDocument | null> => {
          const first = { _id: key, count: points, ends_at: toDate(now + duration) };
          try {
            await rateLimitCounts.insertOne(first, bestEffort);
            return first;
          } catch (error) {
            if (isDuplicateKey(error)) return null;
            throw error;
          }
        };
        // Not by an upsert: of several that find none, those that come second are to be told the
        // count they make, and the stand-in of the tests tells them their own part of it.
        const { count, ends_at } = (await add()) ?? (await begin()) ?? (await add()) ?? gone(key);
        return { count, ends_at: ends_at.getTime() };
      }),
  };
}

/** Begun by another and deleted already: that takes a clock which is off by a whole window. */
function gone(key: string): never {
  throw new Error(`The count of ${key} is deleted as soon as it is begun: compare the clocks.`);
}
