import type { Binary, Collection } from 'mongodb';
import type { Collections, Database } from './database.ts';

/**
 * Never sent again: the first command could arrive after the document was deleted, and restore it.
 * A document that no caller learned of expires by itself.
 */
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
