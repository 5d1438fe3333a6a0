import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { fromRefusalDocument, toId, toRefusalDocument } from './documents.ts';

export function refusals(connection: Connection): Pick<Store, 'keepRefusals' | 'findRefusals'> {
  return {
    async keepRefusals(records) {
      if (records.length === 0) return;
      // Each under its own id: to write one twice changes nothing.
      const upserts = records.map((record) => {
        const { _id, ...replacement } = toRefusalDocument(record);
        return { replaceOne: { filter: { _id }, replacement, upsert: true } };
      });
      await connection.writeCasually(async ({ refusals, bestEffort }) => {
        await refusals.bulkWrite(upserts, { ...bestEffort, ordered: false });
      });
    },

    async findRefusals(filter, limit) {
      const which =
        'request_id' in filter
          ? { request_id: filter.request_id }
          : { grant_id: toId(filter.grant_id) };
      const documents = await connection.read(({ refusals, listing }) =>
        refusals.find(which, listing).sort({ _id: -1 }).limit(limit).toArray(),
      );
      return documents.map(fromRefusalDocument);
    },
  };
}
