import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { type CurrentAccount, ERASED, type ListedAccount } from '@latchkey/store/records';
import type { AccountFilter, Erasure, ListRange } from '@latchkey/store/store';
import { UPDATE_MANY_DELIVERIES } from './delivery-rows.ts';
import { accountText, initiatorText, rangeParameters } from './rows.ts';

// At most about 5 ms, like a batch of writes.
const BATCH_SIZE = 256;

type Bytes = Uint8Array<ArrayBuffer>;

type GrantRow = { id: Bytes; active: number };

type ErasureRow = { erased_at: number; erased_by: string; erased_before: Bytes };

type ListedRow = { place: Uint8Array; account: string };

export function prepareAccounts(database: DatabaseSync, clock: Clock) {
  const put = database.prepare(`
    INSERT INTO accounts (id, place, account) VALUES (:id, :place, :account)
    ON CONFLICT (id) DO UPDATE SET account = excluded.account`);
  const find = database.prepare(
    'SELECT account FROM accounts WHERE id = :id AND account IS NOT NULL',
  );
  const listWhere = (condition: string) =>
    database.prepare(`
      SELECT place, account FROM accounts WHERE ${condition} AND place < :before
      ORDER BY place DESC LIMIT :limit`);
  const list = listWhere('TRUE');
  const listByUsername = listWhere("account ->> 'username' = :username");
  const listByExternalId = listWhere("account ->> 'external_id' = :external_id");

  const beginErasure = database.prepare(`
    INSERT INTO accounts (id, erased_at, erased_by, erased_before)
    VALUES (:id, :now, :initiator, :before)
    ON CONFLICT (id) DO UPDATE SET place = NULL, account = NULL, erased_at = excluded.erased_at,
      erased_by = excluded.erased_by, erased_before = coalesce(erased_before, excluded.erased_before)`);
  const findErasure = database.prepare(`
    SELECT erased_at, erased_by, erased_before FROM accounts
    WHERE id = :id AND erased_at IS NOT NULL`);
  const noteProgress = database.prepare(
    'UPDATE accounts SET erased_before = :before WHERE id = :id',
  );
  const endErasure = database.prepare(
    'DELETE FROM accounts WHERE id = :id AND erased_at IS NOT NULL',
  );

  const eraseMessages = database.prepare(`
    ${UPDATE_MANY_DELIVERIES} SET body = NULL, claim = NULL, due_at = NULL,
      ended_at = iif(status = 'pending', :now, ended_at),
      status = iif(status = 'pending', 'dropped', status)
    WHERE account_id = :id AND type = 'account.updated'`);
  const deletePages = database.prepare(`
    DELETE FROM pages WHERE id IN
      (SELECT id FROM pages WHERE account_id = :id LIMIT ${BATCH_SIZE})
    RETURNING link_id`);
  const deleteCodes = database.prepare(`
    DELETE FROM grants WHERE id IN
      (SELECT id FROM grants INDEXED BY unrevoked_by_account
        WHERE account_id = :id AND revoked_at IS NULL AND created_at IS NULL LIMIT ${BATCH_SIZE})
    RETURNING link_id`);
  const deleteLink = database.prepare('DELETE FROM links WHERE id = ?');
  const deleteLinks = database.prepare(`
    DELETE FROM links WHERE id IN
      (SELECT id FROM links WHERE account_id = :id LIMIT ${BATCH_SIZE})`);
  const listGrants = database.prepare(`
    SELECT id, revoked_at IS NULL AS active FROM grants
    WHERE account_id = :id AND id < :before ORDER BY id DESC LIMIT ${BATCH_SIZE}`);
  const erase = database.prepare(`
    UPDATE grants SET account = json_set(account, '$.username', :username,
        '$.display_name', :display_name, '$.twitter', :twitter),
      revoked_by = CASE WHEN revoked_at IS NULL THEN :erased_by ELSE revoked_by END,
      revoked_reason = CASE WHEN revoked_at IS NULL THEN 'account_erased' ELSE revoked_reason END,
      revoked_at = coalesce(revoked_at, :erased_at), secret_hash = NULL
    WHERE id = :id`);

  return {
    /** @returns false, and changes nothing, while an erasure of the account is under way */
    putAccount(account: CurrentAccount): boolean {
      const id = uuidToBytes(account.id);
      if (findErasure.get({ id })) return false;
      put.run({ id, place: uuidToBytes(newId(clock())), account: accountText(account) });
      return true;
    },

    findAccount(account_id: string): CurrentAccount | null {
      const row = find.get({ id: uuidToBytes(account_id) }) as { account: string } | undefined;
      return row ? JSON.parse(row.account) : null;
    },

    listAccounts({ username, external_id }: AccountFilter, range: ListRange): ListedAccount[] {
      const parameters = rangeParameters(range);
      const rows =
        username !== undefined
          ? listByUsername.all({ ...parameters, username })
          : external_id !== undefined
            ? listByExternalId.all({ ...parameters, external_id })
            : list.all(parameters);
      return (rows as ListedRow[]).map(({ place, account }) => ({
        place: uuidFromBytes(place),
        account: JSON.parse(account),
      }));
    },

    /** From now on nothing is created for the account, and its grants are refused. */
    beginErasure({ account_id, now, initiator }: Erasure): void {
      const id = uuidToBytes(account_id);
      const { before } = rangeParameters({ limit: 0, before: null });
      beginErasure.run({ id, now, initiator: initiatorText(initiator), before });
      eraseMessages.run({ id, now });
    },

    /** @returns how many grants this has revoked; null if nothing is left to do */
    erasePart(account_id: string): number | null {
      const id = uuidToBytes(account_id);
      const erasure = findErasure.get({ id }) as ErasureRow | undefined;
      if (erasure === undefined) return null;
      // The grants last: until its code is deleted, one more can appear.
      if (deleteSomeLinks(id)) return 0;
      const rows = listGrants.all({ id, before: erasure.erased_before }) as GrantRow[];
      const last = rows.at(-1);
      if (last === undefined) {
        endErasure.run({ id });
        return null;
      }
      const { erased_at, erased_by } = erasure;
      for (const row of rows) erase.run({ id: row.id, erased_at, erased_by, ...ERASED });
      noteProgress.run({ id, before: last.id });
      return rows.filter(({ active }) => active).length;
    },
  };

  /** Pages and codes name link requests that do not name the account. */
  function deleteSomeLinks(id: Bytes): boolean {
    const rows = [deletePages, deleteCodes].flatMap(
      (statement) => statement.all({ id }) as { link_id: Bytes | null }[],
    );
    for (const { link_id } of rows) if (link_id) deleteLink.run(link_id);
    return deleteLinks.run({ id }).changes > 0 || rows.length > 0;
  }
}
