import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { DecidedEvent, Mark } from '@latchkey/store/adapter';
import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';

type MarkRow = Pick<Mark, 'type' | 'at' | 'name'> & { about: Uint8Array; id: Uint8Array };

/** The mark of a call: its key in the table. */
const OF_MARK = 'marks.of = :of AND marks.at = :at AND marks.id = :id AND marks.type = :type';
const keyOf = ({ name }: AnyKind, { at, id, type }: Mark) => ({
  ...{ of: name, at, id: uuidToBytes(id), type },
});

/**
 * From now on, each declared event is marked in the transaction of its change, whichever statement makes
 * it. The triggers are of the connection: without EVENTS_KEY no statement has any.
 *
 * @returns what marks the event of a decision
 */
export function recordEvents(
  database: DatabaseSync,
): (kind: AnyKind, key: string, event: DecidedEvent) => void {
  for (const { name, key, events = {} } of Object.values<AnyKind>(kinds)) {
    for (const [type, field] of Object.entries(events)) {
      database.exec(`
        CREATE TEMP TRIGGER mark_${field}_of_${name} AFTER UPDATE OF ${field} ON main.${name}
          WHEN OLD.${field} IS NULL AND NEW.${field} IS NOT NULL
        BEGIN
          INSERT INTO marks (of, about, type, at, id)
          VALUES ('${name}', NEW.${key}, '${type}', NEW.${field}, NEW.${key});
        END`);
    }
  }
  const insert = database.prepare(`
    INSERT INTO marks (of, about, type, at, id, name) VALUES (:of, :about, :type, :at, :id, :name)`);
  return ({ name: of }, key, { type, at, name = null }) => {
    insert.run({ of, about: uuidToBytes(key), type, at, id: uuidToBytes(randomUUID()), name });
  };
}

export function prepareListMarks(database: DatabaseSync, { name }: AnyKind) {
  const list = database.prepare(
    `SELECT about, type, at, id, name FROM marks WHERE of = '${name}' ORDER BY at LIMIT ?`,
  );
  return (limit: number): Mark[] =>
    (list.all(limit) as MarkRow[]).map(({ about, id, type, at, name }) => ({
      ...{ key: uuidFromBytes(about), id: uuidFromBytes(id), type, at, name },
    }));
}

/** The record of a mark that is still there. */
export function prepareFindMarked(
  database: DatabaseSync,
  kind: AnyKind,
  fields: readonly string[],
) {
  const find = database.prepare(`
    SELECT ${fields.join(', ')} FROM ${kind.name} WHERE ${kind.key} = :about
      AND EXISTS (SELECT 1 FROM marks WHERE ${OF_MARK})`);
  return (mark: Mark) => find.get({ ...keyOf(kind, mark), about: uuidToBytes(mark.key) });
}

export function prepareRemoveMark(database: DatabaseSync, kind: AnyKind) {
  const remove = database.prepare(`DELETE FROM marks WHERE ${OF_MARK}`);
  return (mark: Mark) => void remove.run(keyOf(kind, mark));
}
