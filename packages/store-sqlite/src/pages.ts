import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { AccountRecord, PageRecord } from '@latchkey/store/records';
import type { Change, PageOpening } from '@latchkey/store/store';
import { bytesOrNull, idOrNull, initiatorText } from './rows.ts';

type PageRow = Omit<PageRecord, 'id' | 'link_id' | 'account_id'> & {
  id: Uint8Array;
  link_id: Uint8Array | null;
  account_id: Uint8Array;
};

export function preparePages(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO pages (id, kind, link_id, account_id, sign_outs, ticket_hash, ticket_expires_at,
      expires_at, return_url, locale, create_initiator)
    SELECT :id, :kind, :link_id, id, sign_outs, :ticket_hash, :ticket_expires_at,
      :expires_at, :return_url, :locale, :initiator
    FROM accounts WHERE id = :account_id
    RETURNING *`);
  const find = database.prepare('SELECT * FROM pages WHERE id = :id');
  const findAccount = database.prepare(`
    SELECT a.account, a.sign_outs > p.sign_outs AS signed_out
    FROM pages p JOIN accounts a ON a.id = p.account_id WHERE p.id = :id`);
  const end = database.prepare('UPDATE accounts SET sign_outs = sign_outs + 1 WHERE id = :id');
  const open = database.prepare(`
    UPDATE pages SET session_hash = :session_hash, expires_at = :expires_at, open_initiator = :initiator
    WHERE id = :id AND ticket_hash = :ticket_hash AND session_hash IS NULL
      AND ticket_expires_at > :now
    RETURNING *`);

  return {
    createPage(page: PageRecord & Change): PageRecord | null {
      const row = insert.get({
        id: uuidToBytes(page.id),
        kind: page.kind,
        link_id: bytesOrNull(page.link_id),
        account_id: uuidToBytes(page.account_id),
        ticket_hash: page.ticket_hash,
        ticket_expires_at: page.ticket_expires_at,
        expires_at: page.expires_at,
        return_url: page.return_url,
        locale: page.locale,
        initiator: initiatorText(page.initiator),
      }) as PageRow | undefined;
      return row ? pageRecord(row) : null;
    },

    findPage(page_id: string): PageRecord | null {
      const row = find.get({ id: uuidToBytes(page_id) }) as PageRow | undefined;
      return row ? pageRecord(row) : null;
    },

    findPageAccount(page_id: string): AccountRecord | 'signed_out' | null {
      const row = findAccount.get({ id: uuidToBytes(page_id) }) as
        | { account: string; signed_out: number }
        | undefined;
      if (!row) return null;
      return row.signed_out === 1 ? 'signed_out' : JSON.parse(row.account);
    },

    endPages(account_id: string): void {
      end.run({ id: uuidToBytes(account_id) });
    },

    openPage(opening: PageOpening): PageRecord | null {
      const { ticket_hash, session_hash, expires_at, now } = opening;
      const row = open.get({
        id: uuidToBytes(opening.page_id),
        ...{ ticket_hash, session_hash, expires_at, now },
        initiator: initiatorText(opening.initiator),
      }) as PageRow | undefined;
      return row ? pageRecord(row) : null;
    },
  };
}

function pageRecord(row: PageRow): PageRecord {
  return {
    id: uuidFromBytes(row.id),
    kind: row.kind,
    link_id: idOrNull(row.link_id),
    account_id: uuidFromBytes(row.account_id),
    ticket_hash: row.ticket_hash,
    ticket_expires_at: row.ticket_expires_at,
    session_hash: row.session_hash,
    expires_at: row.expires_at,
    return_url: row.return_url,
    locale: row.locale,
  };
}
