import type { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import type { AccountRecord } from '../records.ts';
import { accountRecord, accountText } from './rows.ts';

/** The statements on accounts, prepared. All are synchronous. */
export function prepareAccounts(database: DatabaseSync) {
  const put = database.prepare(`
    INSERT INTO accounts (id, account) VALUES (:id, :account)
    ON CONFLICT (id) DO UPDATE SET account = excluded.account`);
  const find = database.prepare('SELECT account FROM accounts WHERE id = :id');

  return {
    putAccount(account: AccountRecord): void {
      put.run({ id: uuidToBytes(account.id), account: accountText(account) });
    },

    findAccount(account_id: string): AccountRecord | null {
      const row = find.get({ id: uuidToBytes(account_id) }) as { account: string } | undefined;
      return row ? accountRecord(row.account) : null;
    },
  };
}
