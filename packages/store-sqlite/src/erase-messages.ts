import type { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import type { Tombstone } from '@latchkey/store/operations/by-hand';
import { UPDATE_MANY_DELIVERIES } from './delivery-rows.ts';

/** Not once the account was put again: its messages are of the new one. */
export function prepareEraseMessages(database: DatabaseSync) {
  const erase = database.prepare(`
    ${UPDATE_MANY_DELIVERIES} SET body = NULL, claim = NULL, due_at = NULL,
      ended_at = iif(status = 'pending', :erased_at, ended_at),
      status = iif(status = 'pending', 'dropped', status)
    WHERE account_id = :id AND type = 'account.updated'
      AND EXISTS (SELECT 1 FROM accounts WHERE id = :id AND erased_at IS NOT NULL)`);

  return {
    eraseMessages({ account_id, erased_at }: Tombstone): void {
      erase.run({ id: uuidToBytes(account_id), erased_at });
    },
  };
}
