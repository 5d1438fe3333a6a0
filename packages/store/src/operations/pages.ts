import type { Adapter } from '../adapter.ts';
import { type Givens, moreThan } from '../condition.ts';
import { accounts, pages as kind } from '../kinds.ts';
import type { AccountRecord, PageRecord } from '../records.ts';
import type { PageOpening, Store } from '../store.ts';
import { PAGE_OF_ACCOUNT } from './held.ts';

type Pages = Pick<Store, 'createPage' | 'findPage' | 'findPageAccount' | 'openPage'>;

const PAGE = [
  'id',
  'kind',
  'link_id',
  'account_id',
  'ticket_hash',
  'ticket_expires_at',
  'session_hash',
  'expires_at',
  'return_url',
  'locale',
] as const;

interface PageOfAccount {
  sign_outs: number;
  account: { account: AccountRecord | null; sign_outs: number } | null;
}

export function pages(db: Adapter): Pages {
  const find = db.find(kind, ({ id }: Givens<{ id: string }>) => ({ id }), PAGE, asIs);
  const findAccount = db.joined(
    kind,
    ({ id }: Givens<{ id: string }>) => ({ id }),
    ['sign_outs'],
    { account: { kind: accounts, by: 'account_id', fields: ['account', 'sign_outs'] } },
    ({ sign_outs, account: now }: PageOfAccount): AccountRecord | 'signed_out' | null => {
      if (!now?.account) return null;
      return now.sign_outs > sign_outs ? 'signed_out' : now.account;
    },
  );
  const create = db.sequence((steps) => steps.insertHeld(kind, PAGE_OF_ACCOUNT));

  return {
    async createPage({ initiator, ...page }) {
      return (await create({ ...page, create_initiator: initiator })) && page;
    },

    findPage: (id) => find({ id }),

    findPageAccount: (id) => findAccount({ id }),

    openPage: db.change(
      kind,
      (page: Givens<PageOpening>) => ({
        where: {
          id: page.page_id,
          ticket_hash: page.ticket_hash,
          session_hash: null,
          ticket_expires_at: moreThan(page.now),
        },
        set: {
          session_hash: page.session_hash,
          expires_at: page.expires_at,
          open_initiator: page.initiator,
        },
      }),
      PAGE,
      asIs,
    ),
  };
}

const asIs = (page: PageRecord): PageRecord => page;
