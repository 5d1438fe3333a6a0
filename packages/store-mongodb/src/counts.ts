import { type Counts, liveChange } from '@latchkey/store/store';
import type { Binary, Filter } from 'mongodb';
import type { Database } from './database.ts';
import { type GrantDocument, hasSecret } from './documents.ts';
import { againIfDuplicate } from './errors.ts';
import { fromId, toDate, toId } from './values.ts';

const live = { _id: 'live' } as const;

export function counts(database: Database): Counts {
  return {
    addCounts: ({ hour, counts }) =>
      database.writeOnce(async ({ hourCounts, liveCount, durable }) => {
        const $inc = Object.fromEntries(
          Object.entries(counts).map(([name, count]) => [`counts.${name}`, count]),
        );
        const _id = toDate(hour);
        await againIfDuplicate(() =>
          hourCounts.updateOne({ _id }, { $setOnInsert: { hour: _id }, $inc } as object, {
            ...durable,
            upsert: true,
          }),
        );
        const change = liveChange(counts);
        if (change === 0) return;
        const counted = { ...live, count: { $exists: true } };
        // The next count of all puts it right. An error would count the hour twice, for good.
        await liveCount.updateOne(counted, { $inc: { count: change } }, durable).catch(() => {});
      }),

    async listCounts({ since, until }) {
      const documents = await database.readByIndex('count_expiry', ({ hourCounts }, listing) =>
        hourCounts
          .find({ hour: { $gte: toDate(since), $lt: toDate(until) } }, listing)
          .sort({ hour: 1 })
          .toArray(),
      );
      return documents.map(({ hour, counts }) => ({ hour: hour.getTime(), counts }));
    },

    async findLiveCount() {
      const found = await database.read(({ liveCount, listing }) =>
        liveCount.findOne(live, listing),
      );
      if (found?.count === undefined || found.counted_at === undefined) return null;
      return { count: found.count, counted_at: found.counted_at.getTime() };
    },

    async countActiveGrants({ after, limit }) {
      const place = (after ?? []) as readonly string[];
      const [part] = await database.readByIndex('active_by_account', ({ grants }, options) =>
        grants
          .aggregate<CountedPart>(
            [
              { $match: { ...behind(place), ...hasSecret } },
              { $sort: { account_id: 1, application_id: 1, _id: 1 } },
              { $limit: limit },
              {
                $group: {
                  _id: null,
                  count: { $sum: 1 },
                  account_id: { $last: '$account_id' },
                  application_id: { $last: '$application_id' },
                  grant_id: { $last: '$_id' },
                },
              },
            ],
            // Each key is read once a day.
            { ...options, readPreference: 'secondaryPreferred' },
          )
          .toArray(),
      );
      const count = part?.count ?? 0;
      if (part !== undefined && count === limit) {
        const { account_id, application_id, grant_id } = part;
        return { count, after: [account_id, application_id, grant_id].map(fromId) };
      }
      // An index is read from one place on: what has the same beginning, then what is behind all of that.
      return { count, after: place.length > 1 ? place.slice(0, -1) : null };
    },

    keepLiveCount: ({ count, counted_at }) =>
      database.writeOnce(async ({ liveCount, durable }) => {
        const change = { $set: { count, counted_at: toDate(counted_at) } };
        await againIfDuplicate(() =>
          liveCount.updateOne(live, change, { ...durable, upsert: true }),
        );
      }),

    addToCount: ({ key, points, now, duration }) =>
      database.writeOnce(async ({ rateLimitCounts, bestEffort }) => {
        const end = toDate(now + duration);
        // False for a new document, since a missing field is less than any date.
        const isRunning = { $gt: ['$ends_at', toDate(now)] };
        const set = {
          count: { $add: [{ $cond: [isRunning, '$count', 0] }, points] },
          // A process whose clock is ahead must not extend the window.
          ends_at: { $cond: [isRunning, { $min: ['$ends_at', end] }, end] },
        };
        const counted = await againIfDuplicate(() =>
          rateLimitCounts.findOneAndUpdate({ _id: key }, [{ $set: set }], {
            ...bestEffort,
            upsert: true,
            returnDocument: 'after',
          }),
        );
        if (counted === null) throw new TypeError('An upsert returned no document.');
        return { count: counted.count, ends_at: counted.ends_at.getTime() };
      }),
  };
}

interface CountedPart {
  count: number;
  account_id: Binary;
  application_id: Binary;
  grant_id: Binary;
}

const KEY = ['account_id', 'application_id', '_id'] as const;

const behind = (place: readonly string[]): Filter<GrantDocument> =>
  Object.fromEntries(
    place.map((id, index) => [
      KEY[index],
      index === place.length - 1 ? { $gt: toId(id) } : toId(id),
    ]),
  );
