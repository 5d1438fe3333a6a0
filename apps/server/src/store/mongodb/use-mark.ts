import type { Collection, Db } from 'mongodb';
import type { UseMark, UseMarks } from '../use-mark.ts';
import type { Concerns } from './concerns.ts';
import { isDuplicateKey } from './errors.ts';

type UseDocument = { _id: 'use' } & UseMark;

const ID = { _id: 'use' } as const;

export function useMarks(
  db: Db,
  { durable, decisive }: Pick<Concerns, 'durable' | 'decisive'>,
): UseMarks {
  const marks: Collection<UseDocument> = db.collection('schema');
  return {
    async find() {
      const found = await marks.findOne(ID, decisive);
      if (found === null) return null;
      const { _id, ...mark } = found;
      return mark;
    },

    async replace(before, after) {
      try {
        if (before === null) {
          await marks.insertOne({ ...ID, ...after }, durable);
          return true;
        }
        const { matchedCount } = await marks.replaceOne({ ...ID, ...before }, after, durable);
        return matchedCount === 1;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
