import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { endpointOwners } from '@latchkey/store/kinds';
import type { ClaimedDatabase, UseMark, UseMarks } from '@latchkey/store/use-mark';
import type { ClientSession, Collection, Db } from 'mongodb';
import type { Concerns } from './concerns.ts';
import { isDuplicateKey } from './errors.ts';

/** `writes` counts the pages that copies wrote. */
type UseDocument = { _id: 'use'; writes?: number } & UseMark;

const ID = { _id: 'use' } as const;

const marksOf = (db: Db): Collection<UseDocument> => db.collection('schema');

export function useMarks(
  db: Db,
  { durable, decisive }: Pick<Concerns, 'durable' | 'decisive'>,
): UseMarks {
  return {
    async find() {
      const found = await marksOf(db).findOne(ID, decisive);
      if (found === null) return null;
      const { _id, writes, ...mark } = found;
      return mark;
    },

    async replace(before, after) {
      try {
        if (before === null) {
          await marksOf(db).insertOne({ ...ID, ...after }, durable);
          return true;
        }
        // What the mark lacks, its document has to lack.
        const filter = { ...ID, events_keys: { $exists: false }, ...before };
        return (await marksOf(db).replaceOne(filter, after, durable)).matchedCount === 1;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}

export const claimed = ({ db, ...concerns }: Concerns & { db: Db }): ClaimedDatabase => ({
  ...useMarks(db, concerns),
  name: `The database ${db.databaseName}`,
  async hasEndpoints() {
    const heard = { ids: { $elemMatch: { $ne: DEMO_ENDPOINT_ID } } };
    const owners = db.collection(endpointOwners.name);
    return (await owners.findOne(heard, { ...concerns.listing, projection: { _id: 1 } })) !== null;
  },
});

/**
 * Changes the mark's document, and with it conflicts with every other change of the mark until the
 * transaction has ended.
 *
 * @returns false if the mark is another one
 */
export async function touchMark(db: Db, mark: UseMark, session: ClientSession): Promise<boolean> {
  const change = { $inc: { writes: 1 } };
  const { matchedCount } = await marksOf(db).updateOne({ ...ID, ...mark }, change, { session });
  return matchedCount === 1;
}
