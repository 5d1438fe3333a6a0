import type { PageRecord } from '../records.ts';
import type { Change, Store } from '../store.ts';
import type { Database } from './database.ts';
import { isErased } from './documents/accounts.ts';
import { fromPageDocument, type PageDocument, toPageDocument } from './documents/pages.ts';
import { initiatorField, isSame, toDate, toHash, toId } from './documents/values.ts';
import { insertOnce } from './insert-once.ts';
import { revisionOf } from './retry-on-conflict.ts';

export function pages(database: Database): Pick<Store, 'createPage' | 'findPage' | 'openPage'> {
  return {
    async createPage(page) {
      const document = await keepPage(database, page);
      return document && fromPageDocument(document);
    },

    async findPage(page_id) {
      const document = await database.decide(({ pages, decisive }) =>
        pages.findOne({ _id: toId(page_id) }, decisive),
      );
      return document && fromPageDocument(document);
    },

    async openPage({ page_id, ticket_hash, session_hash, expires_at, now, initiator }) {
      const _id = toId(page_id);
      const session = toHash(session_hash);
      const opened = await database.write(({ pages, decisive }) => ({
        send: (options) =>
          pages.findOneAndUpdate(
            {
              _id,
              ticket_hash: toHash(ticket_hash),
              session_hash: { $exists: false },
              ticket_expires_at: { $gt: toDate(now) },
            },
            {
              $set: {
                session_hash: session,
                expires_at: toDate(expires_at),
                ...initiatorField('open_initiator', initiator),
              },
            },
            { ...options, returnDocument: 'after' },
          ),
        async readBack() {
          const found = await pages.findOne({ _id }, decisive);
          if (found && !found.session_hash) return 'retry' as const;
          return { result: found && isSame(found.session_hash, session) ? found : null };
        },
      }));
      return opened && fromPageDocument(opened);
    },
  };
}

/**
 * The account is read again after the page is stored: an erasure that this read misses deletes the
 * page. That read needs no fence of its own.
 */
export async function keepPage(
  database: Database,
  page: PageRecord & Change,
): Promise<PageDocument | null> {
  const document = toPageDocument(page);
  const { _id, account_id } = document;
  const findAccount = async () => {
    const account = await database.decide(({ accounts, decisive }) =>
      accounts.findOne({ _id: account_id }, decisive),
    );
    return account === null || isErased(account) ? null : account;
  };
  const before = await findAccount();
  if (before === null) return null;
  const account_revision = revisionOf(before);
  const kept = { ...document, account_revision };
  await insertOnce(database, ({ pages }) => pages, kept);
  const after = await findAccount();
  if (after === null) {
    await dropPage(database, document);
    return null;
  }
  const latest_revision = revisionOf(after);
  if (latest_revision === account_revision) return kept;
  return database.write(({ pages, decisive }) => ({
    send: (options) =>
      pages.findOneAndUpdate(
        { _id, account_revision },
        { $set: { account_revision: latest_revision } },
        { ...options, returnDocument: 'after' },
      ),
    async readBack() {
      const found = await pages.findOne({ _id }, decisive);
      return found?.account_revision === account_revision ? ('retry' as const) : { result: found };
    },
  }));
}

export async function dropPage(database: Database, { _id }: PageDocument): Promise<void> {
  await database.write(({ pages }) => ({
    send: async (options) => void (await pages.deleteOne({ _id }, options)),
  }));
}
