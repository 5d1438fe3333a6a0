import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { CommandChange } from '@latchkey/store/records';

export function prepareCommandChanges(database: DatabaseSync) {
  const keep = database.prepare('INSERT OR IGNORE INTO command_changes (id, change) VALUES (?, ?)');
  const list = database.prepare('SELECT id, change FROM command_changes ORDER BY id LIMIT ?');
  const forget = database.prepare('DELETE FROM command_changes WHERE id = ?');

  return {
    keepCommandChanges(changes: readonly CommandChange[]): void {
      for (const { id, ...change } of changes) keep.run(uuidToBytes(id), JSON.stringify(change));
    },

    listCommandChanges(limit: number): CommandChange[] {
      const rows = list.all(limit) as { id: Uint8Array; change: string }[];
      return rows.map(({ id, change }) => ({ id: uuidFromBytes(id), ...JSON.parse(change) }));
    },

    forgetCommandChanges(ids: readonly string[]): void {
      for (const id of ids) forget.run(uuidToBytes(id));
    },
  };
}
