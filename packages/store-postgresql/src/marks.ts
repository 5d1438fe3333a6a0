import type { Call, Mark } from '@latchkey/store/adapter';
import type { Input, Setting, Term } from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';
import { decoderOf, type Statement } from '@latchkey/store/sql';
import type { Database } from './database.ts';
import { dialect } from './dialect.ts';
import { FENCED } from './fence.ts';

type Asked = { limit: number; isDecisive: boolean };
type Given = { marks: readonly Mark[] };

/**
 * Marks each declared event that a change is, in its statement: the last part of a WITH that has these fields of the
 * changed records in `made`.
 */
export function declaredMarks(
  { name, key, events = {} }: AnyKind,
  terms: readonly Term[],
  settings: readonly Setting[],
): { fields: string[]; text: string } {
  const told = Object.entries<string>(events as Record<string, string>).filter(([, field]) =>
    settings.some((one) => one.name === field && one.isValue),
  );
  const texts = told.map(([type, field]) => {
    // It is so under the lock of the record, so each event is marked once.
    if (!terms.some((term) => term.is === 'equal' && term.name === field && term.isUnset)) {
      throw new TypeError(`A change that is ${type} has to want ${field} not to be set.`);
    }
    return `, marks_of_${field} AS (
      INSERT INTO marks (of, about, type, at, id) SELECT '${name}', ${key}, '${type}', ${field}, ${key} FROM made)`;
  });
  const fields = told.length === 0 ? [] : [key, ...told.map(([, field]) => field)];
  return { fields, text: texts.join('') };
}

/** The same of an event that was decided: there is one record in `made`, and the input has the mark. */
export function decidedMark(statement: Statement, { name, key }: AnyKind): string {
  const given = (member: keyof Mark, type: 'text' | 'time' | 'id') =>
    statement.raw(({ mark }: Input) => (mark as Mark)[member], type);
  const values = [given('type', 'text'), given('at', 'time'), given('id', 'id')];
  return `, marked AS (
    INSERT INTO marks (of, about, type, at, id, name)
    SELECT '${name}', made.${key}, ${values.join(', ')}, ${given('name', 'text')} FROM made, i)`;
}

export function marksIn(database: Database) {
  const OF_MARK = 'marks.of = $1 AND marks.at = i.at AND marks.id = i.id AND marks.type = i.type';
  const GIVEN =
    'unnest($2::bigint[], $3::uuid[], $4::text[]) WITH ORDINALITY AS i (at, id, type, call)';
  const valuesOf = ({ name }: AnyKind, marks: readonly Mark[]) => [
    name,
    marks.map(({ at }) => at),
    marks.map(({ id }) => id),
    marks.map(({ type }) => type),
  ];

  return {
    listMarks({ name }: AnyKind): Call<Asked, Mark[]> {
      const text = (fence: string) =>
        `SELECT about AS key, type, at, id, name FROM marks WHERE of = $1${fence} ORDER BY at LIMIT $2`;
      const [decisive, plain] = [text(` AND ${FENCED}`), text('')];
      return async ({ limit, isDecisive }) =>
        (await database.read(isDecisive ? decisive : plain, [name, limit])) as Mark[];
    },

    findMarked(
      kind: AnyKind,
      fields: readonly string[],
      result: (record: never, input: { mark: Mark }) => unknown,
    ): Call<Given, unknown[]> {
      const columns = fields.map((name) => `own.${name}`);
      const text = `SELECT i.call${['', ...columns].join(', ')}
        FROM ${GIVEN} JOIN marks ON ${OF_MARK} JOIN ${kind.name} own ON own.${kind.key} = marks.about WHERE ${FENCED}`;
      const decode = decoderOf(dialect, kind, fields);
      return async ({ marks }) => {
        const rows = await database.read(text, valuesOf(kind, marks));
        return rows.map((row) =>
          result(decode(row) as never, { mark: marks[row.call - 1] as Mark }),
        );
      };
    },

    /** Locked in their order, so that those who remove the same never wait for each other. */
    removeMarks(kind: AnyKind): Call<Given, void> {
      const text = `WITH locked AS MATERIALIZED (
          SELECT marks.at, marks.id, marks.type FROM marks JOIN ${GIVEN} ON ${OF_MARK}
          ORDER BY marks.at, marks.id, marks.type FOR UPDATE OF marks),
        made AS (DELETE FROM marks USING locked i WHERE ${OF_MARK} RETURNING 1)
        SELECT count(*) FROM made WHERE ${FENCED}`;
      return async ({ marks }) => {
        await database.settle({
          isPart: true,
          send: (begin) => database.send(text, valuesOf(kind, marks), begin),
        });
      };
    },
  };
}
