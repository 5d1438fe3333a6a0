import type { Binary, Collection } from 'mongodb';
import type { Connection, Database } from './connection.ts';

/**
 * Never sent again: the first command could arrive after the document was deleted, and restore it.
 * A document that no caller learned of expires by itself.
 */
export function insertOnce<Document extends { _id: Binary }>(
  connection: Connection,
  collectionOf: (database: Pick<Database, 'grants' | 'links' | 'pages'>) => Collection<Document>,
  document: Document,
  about: { grant_id?: string } = {},
): Promise<void> {
  return connection.write<void>((database) => {
    const collection = collectionOf(database) as unknown as Collection<{ _id: Binary }>;
    const { _id } = document;
    return {
      ...about,
      send: async (options) => void (await collection.insertOne(document, options)),
      readBack: async () =>
        (await collection.findOne({ _id }, database.decisive))
          ? { result: undefined }
          : ('unknown' as const),
    };
  });
}
