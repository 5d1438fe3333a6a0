import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import { fromRefusalDocument, toRefusalDocument } from './documents/refusals.ts';
import { olderThan, toId } from './documents/values.ts';

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

    async findRefusals(filter, { limit, before }) {
      const [index, which] =
        'request_id' in filter
          ? (['refusals_by_request', { request_id: filter.request_id }] as const)
          : (['refusals_by_grant', { grant_id: toId(filter.grant_id) }] as const);
      const documents = await database.readByIndex(index, ({ refusals }, listing) =>
        refusals
          .find({ ...which, ...olderThan(before) }, listing)
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(fromRefusalDocument);
    },

    async findFirstRefusal(request_id) {
      const [first] = await database.readByIndex('refusals_by_request', ({ refusals }, listing) =>
        refusals.find({ request_id }, listing).sort({ _id: 1 }).limit(1).toArray(),
      );
      return first ? fromRefusalDocument(first) : null;
    },
  };
}
