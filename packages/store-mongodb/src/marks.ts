import type { Mark } from '@latchkey/store/adapter';
import type { Primitives } from '@latchkey/store/call-sites';
import type { AnyKind } from '@latchkey/store/kind';
import type { Binary, Collection } from 'mongodb';
import type { Collections, Database } from './database.ts';
import { type MarkDocument, marked } from './documents.ts';
import { projectionOf, recordOf } from './encoding.ts';
import { fromId, toId } from './values.ts';

type Marked = { _id: Binary; marks: MarkDocument[] };

const markOf = ({ _id }: Marked, { type, at, id, name }: MarkDocument): Mark => ({
  ...{ key: fromId(_id), type, at: at.getTime(), id: fromId(id ?? _id), name: name ?? null },
});

/** A mark is in its record, so the write that makes the change leaves it. */
export function marksIn(
  database: Database,
): Pick<Primitives, 'listMarks' | 'findMarked' | 'removeMarks'> {
  const collectionOf = ({ db }: Pick<Collections, 'db'>, kind: AnyKind): Collection<Marked> =>
    db.collection(kind.name);
  const idsOf = (marks: readonly Mark[]) => [...new Set(marks.map(({ key }) => key))].map(toId);

  return {
    listMarks(kind) {
      return async ({ limit, isDecisive, isNewest }) => {
        const read = (isDecisive ? database.decideByIndex : database.readByIndex).bind(database);
        const documents = await read(`${kind.name}_to_tell`, (collections, options) =>
          collectionOf(collections, kind)
            .find(marked, { ...options, projection: { marks: 1 } })
            .sort({ 'marks.at': isNewest ? -1 : 1 })
            .limit(limit)
            .toArray(),
        );
        return documents.flatMap((one) => one.marks.map((mark) => markOf(one, mark)));
      };
    },

    findMarked(kind, fields, result) {
      const own = projectionOf(kind, fields);
      const projection = { ...own, marks: 1 };
      const decode = recordOf(kind, fields);
      return async ({ marks }) => {
        const documents = await database.decideByIndex('_id_', (collections, options) =>
          collectionOf(collections, kind)
            .find({ _id: { $in: idsOf(marks) } }, { ...options, projection })
            .toArray(),
        );
        const isAsked = (mark: Mark) =>
          marks.some(
            ({ key, type, id }) => key === mark.key && type === mark.type && id === mark.id,
          );
        return documents.flatMap((one) => {
          const left = (one.marks ?? []).map((mark) => markOf(one, mark)).filter(isAsked);
          return left.map((mark) => result(decode(one), { mark }));
        });
      };
    },

    /** A later one of the same record stays. */
    removeMarks(kind) {
      // Of a declared event, a record has one of its type at most.
      const isDeclared = kind.events !== undefined;
      const remove = (
        _id: readonly Binary[],
        member: 'type' | 'id',
        values: readonly unknown[],
      ) => {
        const isLeft = { $not: [{ $in: [`$$this.${member}`, values] }] };
        return database.write<void>((collections) => ({
          isPart: true,
          async send(options) {
            await collectionOf(collections, kind).updateMany(
              // Not in the words of the index of marks, which finds those of others too.
              { _id: { $in: [..._id] }, marks: { $exists: true } },
              [
                { $set: { marks: { $filter: { input: '$marks', cond: isLeft } } } },
                { $set: { marks: { $cond: [{ $eq: ['$marks', []] }, '$$REMOVE', '$marks'] } } },
              ],
              options,
            );
          },
        }));
      };
      return async ({ marks }) => {
        if (!isDeclared) {
          return remove(
            idsOf(marks),
            'id',
            marks.map(({ id }) => toId(id)),
          );
        }
        for (const [type, of] of Map.groupBy(marks, ({ type }) => type)) {
          await remove(idsOf(of), 'type', [type]);
        }
      };
    },
  };
}
