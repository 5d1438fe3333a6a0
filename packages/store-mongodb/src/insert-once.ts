import type { Binary, Collection } from 'mongodb';
import type { Collections, Database } from './database.ts';

/** Never sent again: a late first command could restore a document that was deleted. */
export function insertOnce<Document extends { _id: Binary }>(
  database: Database,
  collectionOf: (collections: Pick<Collections, 'db' | 'deliveries'>) => Collection<Document>,
  document: Document,
  about: { grant_id?: string } = {},
): Promise<true> {
  return database.write<true>((collections) => {
    const collection = collectionOf(collections) as unknown as Collection<{ _id: Binary }>;
    const { _id } = document;
    return {
      ...about,
      async send(options) {
        await collection.insertOne(document, options);
        return true;
      },
      readBack: async () =>
        (await collection.findOne({ _id }, collections.decisive))
          ? { result: true as const }
          : ('unknown' as const),
    };
  });
}
