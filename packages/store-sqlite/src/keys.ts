import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { isLive } from '@latchkey/domain/credentials/credentials';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { KeyRecord } from '@latchkey/store/records';
import { outdatedSecrets } from '@latchkey/store/store';

type KeyRow = Omit<KeyRecord, 'id'> & { id: Uint8Array };

export function prepareKeys(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO keys (id, name, role, hash, hint, created_at, expires_at, last_used_at)
    VALUES (:id, :name, :role, :hash, :hint, :created_at, :expires_at, :last_used_at)`);
  const list = database.prepare('SELECT * FROM keys ORDER BY id');
  const find = database.prepare('SELECT * FROM keys WHERE id = :id');
  const remove = database.prepare('DELETE FROM keys WHERE id = :id RETURNING *');
  const noteUse = database.prepare(`
    UPDATE keys SET last_used_at = :at
    WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)`);

  const all = () => (list.all() as KeyRow[]).map(keyRecord);
  const recordOrNull = (row: unknown) => (row === undefined ? null : keyRecord(row as KeyRow));

  return {
    // The transaction holds the write lock, so no other call creates between the count and the insert.
    createKey(key: KeyRecord, { most, now }: { most: number; now: Milliseconds }) {
      const keys = all();
      if (keys.filter((other) => isLive(other, now)).length >= most) return 'key_limit_reached';
      for (const id of outdatedSecrets(keys, now)) remove.run({ id: uuidToBytes(id) });
      insert.run(keyRow(key));
      return 'created';
    },

    findKey: (key_id: string): KeyRecord | null =>
      recordOrNull(find.get({ id: uuidToBytes(key_id) })),

    listKeys: (): KeyRecord[] => all().reverse(),

    deleteKey: (key_id: string): KeyRecord | null =>
      recordOrNull(remove.get({ id: uuidToBytes(key_id) })),

    noteKeyUse(key_id: string, at: Milliseconds): void {
      noteUse.run({ id: uuidToBytes(key_id), at });
    },
  };
}

export const keyRecord = (row: KeyRow): KeyRecord => ({ ...row, id: uuidFromBytes(row.id) });

export const keyRow = (key: KeyRecord) => ({ ...key, id: uuidToBytes(key.id) });
