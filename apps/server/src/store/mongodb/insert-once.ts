import type { Binary, Collection } from 'mongodb';
import type { Collections, Database } from './database.ts';

/** Never sent again: a late first command could restore a document that was deleted. */
export function insertOnce<Document extends { _id: Binary }>(
  database: Database,
  collectionOf: (
    collections: Pick<Collections, 'grants' | 'links' | 'pages'>,
  ) => Collection<Document>,
  document: Document,
  about: { grant_id?: string } = {},
): Promise<void> {
  return database.write<void>((collections) => {
    const collection = collectionOf(collections) as unknown as Collection<{ _id: Binary }>;
    const { _id } = document;
    return {
      ...about,
      send: async (options) => void (await collection.insertOne(document, options)),
      readBack: async () =>
        (await collection.findOne({ _id }, collections.decisive))
          ? { result: undefined }
          : ('unknown' as const),
    };
  });
}
