import { sameHash, textOfHash } from '@latchkey/domain/credentials/credentials';
import { REOPENING, SESSIONS_OF_TICKET } from '@latchkey/domain/lifetimes';
import type { Adapter } from '../adapter.ts';
import type { Change, PageOpening } from '../inputs.ts';
import { type RecordOf, shownFields } from '../kind.ts';
import { accounts, pages as kind } from '../kinds.ts';
import { type AccountRecord, type CredentialHash, type PageRecord, shownOf } from '../records.ts';
import { holdsSession } from '../secrets.ts';
import { PAGE_OF_ACCOUNT } from './held.ts';
import { byId } from './sites.ts';

const PAGE = shownFields(kind);

type Stored = RecordOf<typeof kind>;

/** Each is deleted `LINKS_KEPT` after it expires. */
export function pages(db: Adapter) {
  const find = db.find(kind, byId, PAGE, asIs);
  const findAccount = db.joined(
    kind,
    byId,
    ['sign_outs'],
    { account: { kind: accounts, by: 'account_id', fields: ['account', 'sign_outs'] } },
    ({ sign_outs, account: now }): AccountRecord | 'signed_out' | null => {
      if (!now?.account) return null;
      return now.sign_outs > sign_outs ? 'signed_out' : now.account;
    },
  );
  const settle = db.modify(
    kind,
    ({ page_id }: { page_id: string; session_hash: CredentialHash }) => page_id,
    (found, { session_hash }) => {
      if (!found || !holdsSession(found, session_hash)) return { result: null };
      const put = { ...found, session_hash, waiting: null };
      const isMade = (later: Stored) =>
        later.session_hash !== null && holdsSession(later, session_hash);
      return { result: pageOf(put), ...(found.session_hash === null && { put, isMade }) };
    },
  );
  const create = db.sequence((steps) => steps.insertHeld(kind, PAGE_OF_ACCOUNT));

  return {
    /** Creates a page that belongs to no link request. Null if there is no such account. */
    async createPage({ initiator, ...page }: PageRecord & Change): Promise<PageRecord | null> {
      return (await create({ ...page, create_initiator: initiator })) && page;
    },

    findPage: (id: string) => find({ id }),

    /**
     * The current account of a page; `signed_out` if `endPages` has ended the page. Null
     * if there is no such page or account.
     */
    findPageAccount: (id: string) => findAccount({ id }),

    /**
     * Opens a page with its ticket, and stores the hash of a session that waits to come back. A ticket can be taken
     * again for `REOPENING`, `SESSIONS_OF_TICKET` times in all. Null if it is another one, one of its
     * sessions has come back, or it is too late or too often at `now`.
     */
    openPage: db.modify(
      kind,
      ({ page_id }: PageOpening) => page_id,
      (found, { ticket_hash, session_hash, expires_at, now, initiator }) => {
        if (!found || !sameHash(found.ticket_hash, ticket_hash)) return { result: null };
        const waiting = found.waiting ?? [];
        const isOpen =
          found.opened_at === null
            ? now < found.ticket_expires_at
            : now < found.opened_at + REOPENING && waiting.length < SESSIONS_OF_TICKET;
        if (found.session_hash !== null || !isOpen) return { result: null };
        const first = { opened_at: now, open_initiator: initiator, expires_at };
        const put = {
          ...found,
          ...(found.opened_at === null && first),
          waiting: [...waiting, textOfHash(session_hash)],
        };
        const isMade = (later: Stored) => holdsSession(later, session_hash);
        return { result: pageOf(put), put, isMade };
      },
    ),

    /**
     * Makes a session that has come back the one of its page, and ends the others that wait. Null if another one has
     * come back before, or the page has no such session.
     */
    returnToPage: (page_id: string, session_hash: CredentialHash) =>
      settle({ page_id, session_hash }),
  };
}

const asIs = (page: PageRecord): PageRecord => page;

const pageOf = shownOf(kind);
