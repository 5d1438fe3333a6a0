import type { Collection, Filter } from 'mongodb';
import type { Collections, Database } from './database.ts';
import { isDuplicateKey } from './errors.ts';
import { atRevision, revisionOf, type Versioned } from './retry-on-conflict.ts';

/** Inserts the document at revision 0. Null if the revision is another one. */
export function replaceAtRevision<Document extends Versioned & { _id: unknown }>(
  database: Database,
  collectionOf: (collections: Pick<Collections, 'accounts'>) => Collection<Document>,
  revision: number,
  { _id, ...replacement }: Document,
  isMade: (found: Document) => boolean,
): Promise<true | null> {
  return database.write<true | null>((collections) => {
    const collection = collectionOf(collections) as unknown as Collection<Versioned>;
    const ofId = { _id } as Filter<Versioned>;
    return {
      async send(options) {
        try {
          await collection.replaceOne(
            { ...ofId, ...atRevision(revision) },
            { ...replacement, revision: revision + 1 },
            { ...options, upsert: true },
          );
          return true;
        } catch (error) {
          if (isDuplicateKey(error)) return null;
          throw error;
        }
      },
      async readBack() {
        const found = await collection.findOne(ofId, collections.decisive);
        if (revisionOf(found) === revision) return 'retry';
        return found && isMade(found as unknown as Document) ? { result: true } : 'unknown';
      },
    };
  });
}
