import { leastIdSince } from '@latchkey/domain/credentials/credentials';
import type { RefusalFilter, Store } from '@latchkey/store/store';
import type { Filter } from 'mongodb';
import type { Database } from './database.ts';
import {
  fromRefusalDocument,
  type RefusalDocument,
  toRefusalDocument,
} from './documents/refusals.ts';
import { GREATEST_ID, toId } from './documents/values.ts';

export function refusals(
  database: Database,
): Pick<Store, 'keepRefusals' | 'findRefusals' | 'findFirstRefusal'> {
  return {
    async keepRefusals(records) {
      if (records.length === 0) return;
      const upserts = records.map((record) => {
        const { _id, ...replacement } = toRefusalDocument(record);
        return { replaceOne: { filter: { _id }, replacement, upsert: true } };
      });
      // Durable, since `findRefusals` reads only what a majority has.
      await database.writeOnce(async ({ refusals, durable }) => {
        await refusals.bulkWrite(upserts, { ...durable, ordered: false });
      });
    },

    async findRefusals(filter, { limit, before, since }) {
      const _id = { $gte: firstId(since), $lt: toId(before ?? GREATEST_ID) };
      const [index, which] = indexFor(filter);
      const documents = await database.readByIndex(index, ({ refusals }, listing) =>
        refusals
          .find({ ...which, _id }, listing)
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(fromRefusalDocument);
    },

    async findFirstRefusal(request_id, { since } = {}) {
      const which = { request_id, _id: { $gte: firstId(since) } };
      const [first] = await database.readByIndex('refusals_by_request', ({ refusals }, listing) =>
        refusals.find(which, listing).sort({ _id: 1 }).limit(1).toArray(),
      );
      return first ? fromRefusalDocument(first) : null;
    },
  };
}

const firstId = (since = 0) => toId(leastIdSince(since));

function indexFor(filter: RefusalFilter): [index: string, which: Filter<RefusalDocument>] {
  if ('request_id' in filter) return ['refusals_by_request', { request_id: filter.request_id }];
  if ('application_id' in filter) {
    return ['refusals_by_application', { application_id: toId(filter.application_id) }];
  }
  if ('account_id' in filter) {
    return ['refusals_by_account', { account_id: toId(filter.account_id) }];
  }
  if ('grant_id' in filter) return ['refusals_by_grant', { grant_id: toId(filter.grant_id) }];
  return ['_id_', {}];
}
