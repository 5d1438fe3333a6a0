import type { Mark } from '@latchkey/store/adapter';
import type { Primitives } from '@latchkey/store/call-sites';
import type { Input, Setting, Term } from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';
import type { Statement } from '@latchkey/store/sql/statement';
import { isMark, markedSite } from '@latchkey/store/sql/statement';
import { foundText } from './batches.ts';
import type { Database } from './database.ts';
import { dialect } from './dialect.ts';
import { FENCED } from './fence.ts';
import { shared, valuesOfAll } from './statements.ts';

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

export function marksIn(database: Database): Pick<Primitives, 'findMarked' | 'removeMarks'> {
  return {
    findMarked(...of) {
      const site = markedSite(dialect, ...of);
      const found = shared((statement) => foundText(site, statement));
      return async ({ marks }) => {
        const rows = await database.read(found.text, valuesOfAll(found, marks));
        return rows.map((row) => site.result(site.decode(row), marks[row.call - 1] ?? {}));
      };
    },

    /** Locked in their order, so that those who remove the same never wait for each other. */
    removeMarks(kind) {
      const KEY = ['of', 'at', 'id', 'type'].map((name) => `marks.${name}`).join(', ');
      const removed = shared(
        (statement) => `, locked AS MATERIALIZED (
          SELECT ${KEY} FROM marks JOIN i ON ${isMark(statement, kind)} ORDER BY ${KEY} FOR UPDATE OF marks),
        made AS (DELETE FROM marks USING locked WHERE (${KEY}) = (locked.of, locked.at, locked.id, locked.type) RETURNING 1)
        SELECT count(*) FROM made WHERE ${FENCED}`,
      );
      return async ({ marks }) => {
        const values = valuesOfAll(removed, marks);
        await database.settle({
          isPart: true,
          send: (begin) => database.send(removed.text, values, begin),
        });
      };
    },
  };
}
