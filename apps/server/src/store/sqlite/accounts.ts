import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { Clock } from '../../clock.ts';
import { newId } from '../../credentials/credentials.ts';
import { type AccountRecord, ERASED, type ListedAccount } from '../records.ts';
import type { Erasure, ListRange } from '../store.ts';
import { accountText, initiatorText, rangeParameters } from './rows.ts';

type ListedRow = { place: Uint8Array; account: string };

export function prepareAccounts(database: DatabaseSync, clock: Clock) {
  const put = database.prepare(`
    INSERT INTO accounts (id, place, account) VALUES (:id, :place, :account)
    ON CONFLICT (id) DO UPDATE SET account = excluded.account`);
  const find = database.prepare('SELECT account FROM accounts WHERE id = :id');
  const listWhere = (condition: string) =>
    database.prepare(`
      SELECT place, account FROM accounts WHERE ${condition} AND place < :before
      ORDER BY place DESC LIMIT :limit`);
  const list = listWhere('TRUE');
  const listByUsername = listWhere("account ->> 'username' = :username");

  const deleteLinks = database.prepare(`
    DELETE FROM links WHERE account_id = :id
      OR id IN (SELECT link_id FROM pages WHERE account_id = :id)
      OR id IN (SELECT link_id FROM grants WHERE account_id = :id AND created_at IS NULL)`);
  const deletePages = database.prepare('DELETE FROM pages WHERE account_id = :id');
  const remove = database.prepare('DELETE FROM accounts WHERE id = :id');
  const deleteCodes = database.prepare(
    'DELETE FROM grants WHERE account_id = :id AND created_at IS NULL',
  );
  const revoke = database.prepare(`
    UPDATE grants SET revoked_at = :now, revoked_by = :initiator, secret_hash = NULL
    WHERE account_id = :id AND revoked_at IS NULL`);
  const eraseSnapshots = database.prepare(`
    UPDATE grants SET account = json_set(account, '$.username', :username,
      '$.display_name', :display_name, '$.twitter', :twitter)
    WHERE account_id = :id`);

  return {
    putAccount(account: AccountRecord): void {
      put.run({
        id: uuidToBytes(account.id),
        place: uuidToBytes(newId(clock())),
        account: accountText(account),
      });
    },

    findAccount(account_id: string): AccountRecord | null {
      const row = find.get({ id: uuidToBytes(account_id) }) as { account: string } | undefined;
      return row ? JSON.parse(row.account) : null;
    },

    listAccounts(
      { username }: { username?: string | undefined },
      range: ListRange,
    ): ListedAccount[] {
      const parameters = rangeParameters(range);
      const rows =
        username === undefined
          ? list.all(parameters)
          : listByUsername.all({ ...parameters, username });
      return (rows as ListedRow[]).map(({ place, account }) => ({
        place: uuidFromBytes(place),
        account: JSON.parse(account),
      }));
    },

    // One transaction: no code is issued or redeemed in between.
    eraseAccount({ account_id, now, initiator }: Erasure): number {
      const id = uuidToBytes(account_id);
      remove.run({ id });
      // Before the pages and the codes, which name the link requests to delete.
      deleteLinks.run({ id });
      deletePages.run({ id });
      deleteCodes.run({ id });
      const { changes } = revoke.run({ id, now, initiator: initiatorText(initiator) });
      eraseSnapshots.run({ id, ...ERASED });
      return Number(changes);
    },
  };
}
