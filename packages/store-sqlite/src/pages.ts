import type { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';

export function preparePages(database: DatabaseSync) {
  const end = database.prepare('UPDATE accounts SET sign_outs = sign_outs + 1 WHERE id = :id');

  return {
    endPages(account_id: string): void {
      end.run({ id: uuidToBytes(account_id) });
    },
  };
}
