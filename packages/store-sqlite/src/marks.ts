import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import type { DecidedEvent } from '@latchkey/store/adapter';
import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';

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
