import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import { uuidFromBytes } from '@latchkey/schema';
import { type CurrentAccount, ERASED } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Binary, Collection, Filter } from 'mongodb';
import { BATCH_SIZE, inBatches } from './batches.ts';
import type { Database } from './database.ts';
import {
  type AccountDocument,
  type AccountSnapshot,
  type ErasedAccountDocument,
  fromAccountDocument,
  isErased,
  toAccountDocument,
  toSnapshot,
} from './documents/accounts.ts';
import type { DeliveryDocument } from './documents/deliveries.ts';
import { type GrantDocument, unrevoked } from './documents/grants.ts';
import { grantMarks } from './documents/marks.ts';
import { initiatorField, isSame, toDate, toId } from './documents/values.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { atRevision, retryOnConflict, revisionOf, type Versioned } from './retry-on-conflict.ts';

type Accounts = Pick<
  Store,
  'putAccount' | 'findAccount' | 'listAccounts' | 'endPages' | 'eraseAccount'
>;

type AnyAccount = AccountDocument | ErasedAccountDocument;

interface OfAccount {
  account_id: AnyAccount['_id'];
  account_revision: { $not: { $gt: number } };
}

export function accounts(database: Database, clock: Clock, recordsEvents = false): Accounts {
  const mark = grantMarks(recordsEvents);
  const find = database.gatherReads<AnyAccount>(({ accounts, decisive }, byId) =>
    accounts.find(byId, decisive).toArray(),
  );

  const replace = (revision: number, account: AnyAccount, isMade: (found: AnyAccount) => boolean) =>
    replaceAtRevision<AnyAccount>(
      database,
      (collections) => collections.accounts,
      revision,
      account,
      isMade,
    );

  /**
   * The erasure is stored, so what is created from now on sees it.
   *
   * @returns how many grants this erasure has revoked
   */
  async function endAll(erasure: ErasedAccountDocument): Promise<number> {
    const ofAccount = {
      account_id: erasure._id,
      // If a command is late, it spares what belongs to an account that was put under the same id later.
      account_revision: { $not: { $gt: erasure.revision ?? 0 } },
    };
    await inBatches(() => deletePages(ofAccount));
    await inBatches(() => eraseMessages(ofAccount, erasure.erased_at));
    let revoked = 0;
    await inBatches(async () => {
      const batch = await endUnrevoked(ofAccount, erasure);
      revoked += batch.revoked;
      return batch.found;
    });
    // After the codes: one that is no longer pending was redeemed, so its link request names the
    // account by now.
    await inBatches(() => deleteLinks(ofAccount));
    let before = erasure.erased_from;
    await inBatches(async () => {
      const ids = await eraseNames(ofAccount, before);
      before = ids.at(-1) ?? before;
      if (before) await noteProgress(erasure, before);
      return ids.length;
    });
    return revoked;
  }

  /** A call that read the account earlier stored a page or a code, which names its link request. */
  async function deletePages(ofAccount: OfAccount): Promise<number> {
    const found = await database.decideByIndex('pages_by_account', ({ pages }, options) =>
      pages
        .find(ofAccount, { ...options, projection: { link_id: 1 } })
        .limit(BATCH_SIZE)
        .toArray(),
    );
    await deleteLinksOf(found);
    // After their link requests, since a repetition needs the pages to find those.
    await deleteBatch('pages', found);
    return found.length;
  }

  async function deleteLinks(ofAccount: OfAccount): Promise<number> {
    const found = await database.decideByIndex('links_by_account', ({ links }, options) =>
      links
        .find(ofAccount, { ...options, projection: { _id: 1 } })
        .limit(BATCH_SIZE)
        .toArray(),
    );
    await deleteBatch('links', found);
    return found.length;
  }

  const deleteLinksOf = (found: readonly { link_id?: Binary | null }[]) =>
    deleteBatch(
      'links',
      found.flatMap(({ link_id }) => (link_id ? [{ _id: link_id }] : [])),
    );

  async function deleteBatch(
    from: 'links' | 'pages' | 'grants',
    batch: readonly { _id: Binary }[],
    condition: Filter<GrantDocument> = {},
  ): Promise<void> {
    if (batch.length === 0) return;
    const filter = { ...condition, _id: { $in: batch.map(({ _id }) => _id) } };
    await database.write<void>((collections) => ({
      isPart: true,
      async send(options) {
        const collection = collections[from] as unknown as Collection<{ _id: Binary }>;
        await collection.deleteMany(filter as Filter<{ _id: Binary }>, options);
      },
    }));
  }

  /** Of `account.updated`. None that is stored later gets a body. */
  async function eraseMessages(ofAccount: OfAccount, erased_at: Date): Promise<number> {
    const which: Filter<DeliveryDocument> = {
      ...ofAccount,
      type: 'account.updated',
      $or: [{ body: { $exists: true } }, { status: 'pending' }],
    };
    const found = await database.decideByIndex('deliveries_by_account', ({ deliveries }, options) =>
      deliveries
        .find(which, { ...options, projection: { _id: 1 } })
        .limit(BATCH_SIZE)
        .toArray(),
    );
    if (found.length === 0) return 0;
    const ofBatch = { _id: { $in: found.map(({ _id }) => _id) } };
    await database.write<void>(({ deliveries }) => ({
      isPart: true,
      async send(options) {
        const ifPending = (one: unknown, other: string) => ({
          $cond: [{ $eq: ['$status', 'pending'] }, one, other],
        });
        await deliveries.updateMany(
          ofBatch,
          [
            {
              $set: {
                status: ifPending('dropped', '$status'),
                ended_at: ifPending(erased_at, '$ended_at'),
              },
            },
            { $unset: ['body', 'due_at', 'claim'] },
          ],
          options,
        );
      },
    }));
    return found.length;
  }

  /** Deletes pending codes and revokes active grants. */
  async function endUnrevoked(
    ofAccount: OfAccount,
    { erased_at, erased_by, erasure_id }: ErasedAccountDocument,
  ): Promise<{ found: number; revoked: number }> {
    const found = await database.decideByIndex('unrevoked_by_account', ({ grants }, options) =>
      grants
        .find(
          { ...ofAccount, ...unrevoked },
          { ...options, projection: { created_at: 1, link_id: 1 } },
        )
        .limit(BATCH_SIZE)
        .toArray(),
    );
    if (found.length === 0) return { found: 0, revoked: 0 };
    const pending = found.filter(({ created_at }) => !created_at);
    await deleteLinksOf(pending);
    await deleteBatch('grants', pending, { created_at: { $exists: false } });
    // What is left was redeemed, also of those that were pending.
    const ofBatch = { _id: { $in: found.map(({ _id }) => _id) } };
    await database.write<void>(({ grants }) => ({
      isPart: true,
      async send(options) {
        await grants.updateMany(
          { ...ofBatch, created_at: { $exists: true }, revoked_at: { $exists: false } },
          {
            $set: {
              revoked_at: erased_at,
              erasure_id,
              ...(erased_by && { revoked_by: erased_by }),
              revoked_reason: 'account_erased',
            },
            $unset: { secret_hash: '' },
            ...mark('grant.revoked', erased_at),
          },
          options,
        );
      },
    }));
    const revoked = await database.read(({ grants, listing }) =>
      grants.countDocuments({ ...ofBatch, erasure_id }, listing),
    );
    return { found: found.length, revoked };
  }

  async function eraseNames(ofAccount: OfAccount, before: Binary | undefined): Promise<Binary[]> {
    const redeemed = { ...ofAccount, created_at: { $exists: true } };
    const found = await database.decideByIndex('grants_by_account', ({ grants }, options) =>
      grants
        .find(
          { ...redeemed, ...(before && { _id: { $lt: before } }) },
          { ...options, projection: { _id: 1 } },
        )
        .sort({ _id: -1 })
        .limit(BATCH_SIZE)
        .toArray(),
    );
    const ids = found.map(({ _id }) => _id);
    if (ids.length === 0) return [];
    const names = Object.entries(ERASED).map(([name, value]) => [`account.${name}`, value]);
    await database.write<void>(({ grants }) => ({
      isPart: true,
      async send(options) {
        await grants.updateMany(
          { _id: { $in: ids }, account: { $exists: true } },
          { $set: Object.fromEntries(names) },
          options,
        );
      },
    }));
    return ids;
  }

  /** If this is lost, a repetition erases some names again. */
  const noteProgress = ({ _id, erasure_id }: ErasedAccountDocument, erased_from: Binary) =>
    database.writeOnce(async ({ accounts, bestEffort }) => {
      await accounts.updateOne({ _id, erasure_id }, { $set: { erased_from } }, bestEffort);
    });

  /** One at most: what has not become deliveries yet is one event. */
  function marksAfter(
    before: Partial<AccountDocument>,
    account: CurrentAccount,
  ): Pick<AccountDocument, 'marks'> {
    const { marks } = before;
    const isChanged =
      isSnapshot(before) && !isDeepStrictEqual(toSnapshot(before), toSnapshot(account));
    if (!recordsEvents || !isChanged) return marks ? { marks } : {};
    const type = 'account.updated';
    return { marks: [{ id: toId(randomUUID()), type, at: toDate(clock()) }] };
  }

  return {
    async putAccount(account) {
      const newPlace = toId(newId(clock()));
      await retryOnConflict(
        async (): Promise<Versioned & Partial<AccountDocument>> => {
          const found = await find(account.id);
          // Otherwise, earlier grants would be active again if the erasure was not completed.
          if (found && isErased(found)) await endAll(found);
          return found ?? {};
        },
        (revision, { place = newPlace, sign_outs, ...found }) =>
          replace(
            revision,
            {
              ...toAccountDocument(account, place),
              ...(sign_outs !== undefined && { sign_outs }),
              ...marksAfter(found, account),
            },
            (found) => !isErased(found) && isDeepStrictEqual(fromAccountDocument(found), account),
          ),
      );
    },

    async findAccount(account_id) {
      const document = await find(account_id);
      return document && !isErased(document) ? fromAccountDocument(document) : null;
    },

    async listAccounts({ username, external_id }, { limit, before }) {
      const which = {
        place: before === null ? { $exists: true } : { $lt: toId(before) },
        ...(username !== undefined && { username }),
        ...(external_id !== undefined && { external_id }),
      };
      const documents = await database.read(({ accounts, listing }) =>
        accounts.find(which, listing).sort({ place: -1 }).limit(limit).toArray(),
      );
      return (documents as AccountDocument[]).map((document) => ({
        place: uuidFromBytes(document.place.value()),
        account: fromAccountDocument(document),
      }));
    },

    async endPages(account_id) {
      const _id = toId(account_id);
      await retryOnConflict(
        async () => {
          const found = await find(account_id);
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

    async eraseAccount({ account_id, now, initiator }) {
      const erasure: ErasedAccountDocument = {
        _id: toId(account_id),
        erasure_id: toId(randomUUID()),
        erased_at: toDate(now),
        ...initiatorField('erased_by', initiator),
      };
      const { erasure_id } = erasure;
      // Unknown and erased ids too: a put with an unknown outcome may still arrive.
      let mark = erasure;
      await retryOnConflict(
        async (): Promise<Versioned & Pick<ErasedAccountDocument, 'erased_from'>> =>
          (await find(account_id)) ?? {},
        (before, found) => {
          const isMade = (found: AnyAccount) =>
            isErased(found) && isSame(found.erasure_id, erasure_id);
          const { erased_from } = found;
          mark = { ...erasure, ...(erased_from && { erased_from }), revision: before + 1 };
          return replace(before, mark, isMade);
        },
      );
      return endAll(mark);
    },
  };
}

const isSnapshot = (found: Partial<AccountDocument>): found is AccountSnapshot =>
  found.username !== undefined;
