import type { Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { fromCommandChangeDocument, toCommandChangeDocument } from './documents/command-changes.ts';
import { toId } from './documents/values.ts';

type CommandChanges = Pick<
  Store,
  'keepCommandChanges' | 'listCommandChanges' | 'forgetCommandChanges'
>;

export function commandChanges(database: Database): CommandChanges {
  return {
    async keepCommandChanges(changes) {
      const upserts = changes.map((change) => {
        const { _id, ...replacement } = toCommandChangeDocument(change);
        return { replaceOne: { filter: { _id }, replacement, upsert: true } };
      });
      await database.writeOnce(async ({ commandChanges, durable }) => {
        await commandChanges.bulkWrite(upserts, { ...durable, ordered: false });
      });
    },

    async listCommandChanges(limit) {
      const documents = await database.read(({ commandChanges, listing }) =>
        commandChanges.find({}, listing).sort({ _id: 1 }).limit(limit).toArray(),
      );
      return documents.map(fromCommandChangeDocument);
    },

    async forgetCommandChanges(ids) {
      await database.writeOnce(async ({ commandChanges, durable }) => {
        await commandChanges.deleteMany({ _id: { $in: ids.map(toId) } }, durable);
      });
    },
  };
}
