import type { PageRecord } from '@latchkey/store/records';
import type { Change, Store } from '@latchkey/store/store';
import { accountLookUp } from './accounts.ts';
import type { Database } from './database.ts';
import {
  type AccountDocument,
  type ErasedAccountDocument,
  fromAccountDocument,
  isErased,
} from './documents/accounts.ts';
import { fromPageDocument, type PageDocument, toPageDocument } from './documents/pages.ts';
import { initiatorField, isSame, toDate, toHash, toId } from './documents/values.ts';
import { insertOnce } from './insert-once.ts';
import { atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';

type Pages = Pick<Store, 'createPage' | 'findPage' | 'findPageAccount' | 'endPages' | 'openPage'>;

type JoinedPage = PageDocument & { joined_account: (AccountDocument | ErasedAccountDocument)[] };

export function pages(database: Database): Pages {
  const findAccount = accountLookUp(database);

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

    async findPageAccount(page_id) {
      const [found] = await database.decide(({ pages, decisive }) =>
        pages
          .aggregate<JoinedPage>(
            [
              { $match: { _id: toId(page_id) } },
              {
                $lookup: {
                  from: 'accounts',
                  localField: 'account_id',
                  foreignField: '_id',
                  as: 'joined_account',
                },
              },
            ],
            decisive,
          )
          .toArray(),
      );
      const account = found?.joined_account[0];
      if (found === undefined || account === undefined || isErased(account)) return null;
      const isEnded = (account.sign_outs ?? 0) > (found.sign_outs ?? 0);
      return isEnded ? 'signed_out' : fromAccountDocument(account);
    },

    async endPages(account_id) {
      const _id = toId(account_id);
      await retryOnConflict(
        async () => {
          const found = await findAccount(account_id);
          return found && !isErased(found) ? found : null;
        },
        (revision, { sign_outs = 0 }) =>
          database.write<true | null>(({ accounts, decisive }) => ({
            async send(options) {
              const { matchedCount } = await accounts.updateOne(
                { _id, ...atRevision(revision) },
                { $set: { sign_outs: sign_outs + 1 }, $inc: { revision: 1 } },
                options,
              );
              return matchedCount === 1 ? true : null;
            },
            async readBack() {
              const after = await accounts.findOne({ _id }, decisive);
              if (revisionOf(after) === revision) return 'retry';
              // Whoever raised it has ended the same pages. If nobody did, this command is too late.
              const isRaised = after && !isErased(after) && (after.sign_outs ?? 0) > sign_outs;
              return { result: isRaised ? true : null };
            },
          })),
      );
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
  const kept = { ...document, account_revision, sign_outs: before.sign_outs ?? 0 };
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
        { $set: { account_revision: latest_revision, sign_outs: after.sign_outs ?? 0 } },
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
