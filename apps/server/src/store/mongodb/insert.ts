import type { Binary, Collection, OptionalUnlessRequiredId } from 'mongodb';
import { isDuplicateKey } from './errors.ts';
import type { Write } from './outcomes.ts';

/** The insertion of a document under a random id, as a write that can be repeated. */
export function insertion<Document extends { _id: Binary }>(
  collection: Collection<Document>,
  document: OptionalUnlessRequiredId<Document>,
): Write<void> {
  let repeated = false;
  return {
    async send(durable) {
      try {
        await collection.insertOne(document, durable);
      } catch (error) {
        // Ids are random: what a repetition finds under its own is what was sent before.
        if (!repeated || !isDuplicateKey(error)) throw error;
      } finally {
        repeated = true;
      }
    },
  };
}
