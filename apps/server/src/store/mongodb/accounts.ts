import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { uuidFromBytes } from '@latchkey/schema';
import type { Filter } from 'mongodb';
import type { Clock } from '../../clock.ts';
import { newId } from '../../credentials/credentials.ts';
import { ERASED } from '../records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import {
  type AccountDocument,
  type ErasedAccountDocument,
  fromAccountDocument,
  type GrantDocument,
  isErased,
  isSame,
  originField,
  toDate,
  toId,
  toSnapshot,
} from './documents.ts';
import { isDuplicateKey } from './errors.ts';
import { atRevision, retryOnConflict, revisionOf, type Versioned } from './retry-on-conflict.ts';

type Accounts = Pick<Store, 'putAccount' | 'findAccount' | 'listAccounts' | 'eraseAccount'>;

type AnyAccount = AccountDocument | ErasedAccountDocument;

export function accounts(connection: Connection, clock: Clock): Accounts {
  const find = (_id: AnyAccount['_id']) =>
    connection.decide(({ accounts, decisive }) => accounts.findOne({ _id }, decisive));

  /** Replaces the document, or inserts it; null if it no longer has this revision. */
  const replace = (
    revision: number,
    { _id, ...replacement }: AnyAccount,
    isMade: (found: AnyAccount) => boolean,
  ) =>
    connection.write<true | null>(({ accounts, decisive }) => ({
      async send(options) {
        try {
          await accounts.replaceOne(
            { _id, ...atRevision(revision) },
            { ...replacement, revision: revision + 1 },
            { ...options, upsert: true },
          );
          return true;
        } catch (error) {
          // The account has another revision, so the upsert tried to insert it.
          if (isDuplicateKey(error)) return null;
          throw error;
        }
      },
      async readBack() {
        const found = await accounts.findOne({ _id }, decisive);
        if (revisionOf(found) === revision) return 'retry';
        return found && isMade(found) ? { result: true } : 'unknown';
      },
    }));

  /**
   * Ends what the account had before its erasure. The mark of the erasure is on disk: a code that is
   * issued from now on finds it. Redemption needs a pending code, so once those are deleted, every
   * grant there will ever be is found. Each step may be repeated, also by another call.
   */
  async function endGrants({ _id, revision = 0, ...erasure }: ErasedAccountDocument) {
    const ofAccount = {
      account_id: _id,
      // Not what is about an account that was put under the same id later, if this command is late.
      account_revision: { $not: { $gt: revision } },
    } satisfies Filter<GrantDocument>;
    const redeemed = { ...ofAccount, created_at: { $exists: true } };
    await connection.write<void>(({ grants }) => ({
      async send(options) {
        const pending = { code_expires_at: { $exists: true }, created_at: { $exists: false } };
        await grants.deleteMany({ ...ofAccount, ...pending }, options);
      },
    }));
    await connection.write<void>(({ grants }) => ({
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
    await connection.write<void>(({ grants }) => ({
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
          const found = await find(_id);
          // Or grants of before would be active again, if the erasure was not completed.
          if (found && isErased(found)) await endGrants(found);
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
      const document = await find(toId(account_id));
      return document && !isErased(document) ? fromAccountDocument(document) : null;
    },

    async listAccounts({ username }, { limit, before }) {
      const which = {
        // Erased accounts have no place.
        place: before === null ? { $exists: true } : { $lt: toId(before) },
        ...(username !== undefined && { username }),
      };
      const documents = await connection.read(({ accounts, listing }) =>
        accounts.find(which, listing).sort({ place: -1 }).limit(limit).toArray(),
      );
      return (documents as AccountDocument[]).map((document) => ({
        place: uuidFromBytes(document.place.value()),
        account: fromAccountDocument(document),
      }));
    },

    async eraseAccount({ account_id, now, origin }) {
      const erasure: ErasedAccountDocument = {
        _id: toId(account_id),
        erasure_id: toId(randomUUID()),
        erased_at: toDate(now),
        ...originField('erased_by', origin),
      };
      const { _id, erasure_id } = erasure;
      // Also for an unknown id, and for one that was erased before: a put whose outcome nobody knows
      // may still arrive.
      const revision = await retryOnConflict(
        async () => (await find(_id)) ?? {},
        async (before) => {
          const isMade = (found: AnyAccount) =>
            isErased(found) && isSame(found.erasure_id, erasure_id);
          return (await replace(before, erasure, isMade)) && before + 1;
        },
      );
      await endGrants({ ...erasure, revision: revision ?? 0 });
      return connection.read(({ grants, listing }) =>
        grants.countDocuments(
          { account_id: _id, created_at: { $exists: true }, erasure_id },
          listing,
        ),
      );
    },
  };
}
