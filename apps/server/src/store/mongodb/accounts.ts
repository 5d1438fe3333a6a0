import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { uuidFromBytes } from '@latchkey/schema';
import type { Filter } from 'mongodb';
import type { Clock } from '../../clock.ts';
import { newId } from '../../credentials/credentials.ts';
import { ERASED } from '../records.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import {
  type AccountDocument,
  type ErasedAccountDocument,
  fromAccountDocument,
  isErased,
  toSnapshot,
} from './documents/accounts.ts';
import type { GrantDocument } from './documents/grants.ts';
import { initiatorField, isSame, toDate, toId } from './documents/values.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { retryOnConflict, type Versioned } from './retry-on-conflict.ts';

type Accounts = Pick<Store, 'putAccount' | 'findAccount' | 'listAccounts' | 'eraseAccount'>;

type AnyAccount = AccountDocument | ErasedAccountDocument;

const pending = {
  code_expires_at: { $exists: true },
  created_at: { $exists: false },
} satisfies Filter<GrantDocument>;

interface OfAccount {
  account_id: AnyAccount['_id'];
  account_revision: { $not: { $gt: number } };
}

export const accountLookUp = (database: Database) =>
  database.gatherReads<AnyAccount>(({ accounts, decisive }, byId) =>
    accounts.find(byId, decisive).toArray(),
  );

export function accounts(database: Database, clock: Clock): Accounts {
  const find = accountLookUp(database);

  const replace = (revision: number, account: AnyAccount, isMade: (found: AnyAccount) => boolean) =>
    replaceAtRevision<AnyAccount>(
      database,
      (collections) => collections.accounts,
      revision,
      account,
      isMade,
    );

  /** The erasure is stored, so what is created from now on sees it. */
  async function endAll(erasure: ErasedAccountDocument): Promise<void> {
    const ofAccount = {
      account_id: erasure._id,
      // If this command is late, it spares an account that was put under the same id later.
      account_revision: { $not: { $gt: erasure.revision ?? 0 } },
    };
    await deleteLinks(ofAccount);
    await endGrants(ofAccount, erasure);
  }

  /** A call that read the account earlier stored a page or a code, which names its link request. */
  async function deleteLinks(ofAccount: OfAccount): Promise<void> {
    const [pages, codes] = await database.read(({ pages, grants, listing }) => {
      const linkId = { ...listing, projection: { link_id: 1 } };
      return Promise.all([
        pages.find(ofAccount, linkId).toArray(),
        grants.find({ ...ofAccount, ...pending }, linkId).toArray(),
      ]);
    });
    // After the codes: the link request of a redeemed code names the account by now.
    const links = await database.read(({ links, listing }) =>
      links.find(ofAccount, { ...listing, projection: { _id: 1 } }).toArray(),
    );
    const ids = [
      ...links.map(({ _id }) => _id),
      ...[...pages, ...codes].flatMap(({ link_id }) => link_id ?? []),
    ];
    await database.write<void>(({ links }) => ({
      send: async (options) => void (await links.deleteMany({ _id: { $in: ids } }, options)),
    }));
    // Last, since a repetition needs the pages to find the link requests.
    await database.write<void>(({ pages }) => ({
      send: async (options) => void (await pages.deleteMany(ofAccount, options)),
    }));
  }

  /** Redemption needs a pending code. Once those are deleted, no further grant can appear. */
  async function endGrants(ofAccount: OfAccount, erasure: ErasedAccountDocument): Promise<void> {
    const redeemed = { ...ofAccount, created_at: { $exists: true } };
    await database.write<void>(({ grants }) => ({
      async send(options) {
        await grants.deleteMany({ ...ofAccount, ...pending }, options);
      },
    }));
    await database.write<void>(({ grants }) => ({
      async send(options) {
        await grants.updateMany(
          { ...redeemed, revoked_at: { $exists: false } },
          {
            $set: {
              revoked_at: erasure.erased_at,
              erasure_id: erasure.erasure_id,
              ...(erasure.erased_by && { revoked_by: erasure.erased_by }),
            },
            $unset: { secret_hash: '' },
          },
          options,
        );
      },
    }));
    await database.write<void>(({ grants }) => ({
      async send(options) {
        const names = Object.entries(ERASED).map(([name, value]) => [`account.${name}`, value]);
        await grants.updateMany(redeemed, { $set: Object.fromEntries(names) }, options);
      },
    }));
  }

  return {
    async putAccount(account) {
      const _id = toId(account.id);
      const newPlace = toId(newId(clock()));
      await retryOnConflict(
        async (): Promise<Versioned & { place?: AccountDocument['place'] }> => {
          const found = await find(account.id);
          // Otherwise, earlier grants would be active again if the erasure was not completed.
          if (found && isErased(found)) await endAll(found);
          return found ?? {};
        },
        (revision, { place = newPlace }) =>
          replace(
            revision,
            { _id, place, ...toSnapshot(account) },
            (found) => !isErased(found) && isDeepStrictEqual(fromAccountDocument(found), account),
          ),
      );
    },

    async findAccount(account_id) {
      const document = await find(account_id);
      return document && !isErased(document) ? fromAccountDocument(document) : null;
    },

    async listAccounts({ username }, { limit, before }) {
      const which = {
        place: before === null ? { $exists: true } : { $lt: toId(before) },
        ...(username !== undefined && { username }),
      };
      const documents = await database.read(({ accounts, listing }) =>
        accounts.find(which, listing).sort({ place: -1 }).limit(limit).toArray(),
      );
      return (documents as AccountDocument[]).map((document) => ({
        place: uuidFromBytes(document.place.value()),
        account: fromAccountDocument(document),
      }));
    },

    async eraseAccount({ account_id, now, initiator }) {
      const erasure: ErasedAccountDocument = {
        _id: toId(account_id),
        erasure_id: toId(randomUUID()),
        erased_at: toDate(now),
        ...initiatorField('erased_by', initiator),
      };
      const { _id, erasure_id } = erasure;
      // Unknown and erased ids too: a put with an unknown outcome may still arrive.
      const revision = await retryOnConflict(
        async () => (await find(account_id)) ?? {},
        async (before) => {
          const isMade = (found: AnyAccount) =>
            isErased(found) && isSame(found.erasure_id, erasure_id);
          return (await replace(before, erasure, isMade)) && before + 1;
        },
      );
      await endAll({ ...erasure, revision: revision ?? 0 });
      return database.read(({ grants, listing }) =>
        grants.countDocuments(
          { account_id: _id, created_at: { $exists: true }, erasure_id },
          listing,
        ),
      );
    },
  };
}
