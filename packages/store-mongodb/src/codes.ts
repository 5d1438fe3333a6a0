import { randomUUID } from 'node:crypto';
import type { Clock } from '@latchkey/domain/clock';
import type { Redemption, Store } from '@latchkey/store/store';
import type { Filter } from 'mongodb';
import { accountLookUp } from './accounts.ts';
import type { Database } from './database.ts';
import { isErased, toSnapshot } from './documents/accounts.ts';
import {
  fromGrantDocument,
  fromPendingDocument,
  type GrantDocument,
  isRedeemed,
  ofParties,
  toCodeState,
  toNewDocument,
  unrevoked,
} from './documents/grants.ts';
import { grantMarks } from './documents/marks.ts';
import { fromId, initiatorField, isSame, toDate, toHash, toId } from './documents/values.ts';
import { insertOnce } from './insert-once.ts';
import { revisionOf } from './retry-on-conflict.ts';

type Codes = Pick<
  Store,
  | 'issueCode'
  | 'listCodes'
  | 'listPendingCodes'
  | 'cancelCode'
  | 'redeemCode'
  | 'findCode'
  | 'countPendingCodes'
>;

export function codes(database: Database, clock: Clock, recordsEvents = false): Codes {
  const mark = grantMarks(recordsEvents);
  const findAccount = accountLookUp(database);

  return {
    // The code is stored before the account is read: an erasure that this read misses deletes it.
    async issueCode(code) {
      const document = toNewDocument(code);
      const { _id } = document;
      await insertOnce(database, ({ grants }) => grants, document, { grant_id: code.grant_id });
      const account = await findAccount(code.account_id);
      if (account === null || isErased(account)) {
        await database.write<void>(({ grants }) => ({
          send: async (options) =>
            void (await grants.deleteOne({ _id, account: { $exists: false } }, options)),
        }));
        return null;
      }
      const issued = await database.write(({ grants, decisive }) => ({
        grant_id: code.grant_id,
        send: (options) =>
          grants.findOneAndUpdate(
            { _id, account: { $exists: false } },
            {
              $set: {
                account: toSnapshot(account),
                account_revision: revisionOf(account),
                code_hash: toHash(code.code_hash),
              },
            },
            { ...options, returnDocument: 'after' },
          ),
        async readBack() {
          const found = await grants.findOne({ _id }, decisive);
          return found && !found.account ? ('retry' as const) : { result: found };
        },
      }));
      return issued && fromPendingDocument(issued);
    },

    async listCodes(account_id) {
      const pending = {
        account_id: toId(account_id),
        ...unrevoked,
        code_expires_at: { $exists: true },
        created_at: { $exists: false },
        account: { $exists: true },
      };
      const documents = await database.readByIndex('unrevoked_by_account', ({ grants }, options) =>
        grants.find(pending, options).sort({ _id: -1 }).toArray(),
      );
      return documents.map(fromPendingDocument);
    },

    async listPendingCodes(filter, limit) {
      // Without an account, it is not issued yet. Its document has an expiry while it is pending.
      const pending = {
        ...ofParties(filter),
        ...(filter.application_id === undefined && unrevoked),
        code_expires_at: { $exists: true },
        account: { $exists: true },
      };
      const index =
        filter.application_id === undefined ? 'unrevoked_by_account' : 'codes_by_application';
      const documents = await database.decideByIndex(index, ({ grants }, options) =>
        grants
          .find(pending, { ...options, projection: { _id: 1 } })
          .limit(limit)
          .toArray(),
      );
      return documents.map(({ _id }) => fromId(_id));
    },

    async cancelCode(grant_id) {
      const _id = toId(grant_id);
      const document = await database.write(({ grants, decisive }) => ({
        grant_id,
        send: (options) =>
          grants.findOneAndDelete(
            { _id, account: { $exists: true }, created_at: { $exists: false } },
            options,
          ),
        async readBack() {
          const found = await grants.findOne({ _id }, decisive);
          if (!found) return 'unknown' as const;
          return isRedeemed(found) ? { result: null } : ('retry' as const);
        },
      }));
      return document && fromPendingDocument(document);
    },

    async redeemCode(redemption) {
      const { grant_id, application_id, code_hash, secret_hash, now, initiator } = redemption;
      const { disabled_generation } = redemption;
      const _id = toId(grant_id);
      const redemption_id = toId(randomUUID());
      const secret = toHash(secret_hash);
      const document = await database.write(({ grants, decisive }) => ({
        grant_id,
        // One command: two calls can't both redeem, and no crash spends a code without a grant.
        send: (options) =>
          grants.findOneAndUpdate(
            {
              _id,
              application_id: toId(application_id),
              code_hash: toHash(code_hash),
              created_at: { $exists: false },
              code_expires_at: { $gt: toDate(now) },
              ...(disabled_generation > 0 && { generation: { $gte: disabled_generation } }),
              ...boundTo(redemption),
            },
            {
              $set: {
                created_at: toDate(now),
                secret_hash: secret,
                redemption_id,
                ...initiatorField('redeemed_by', initiator),
              },
              $unset: { code_expires_at: '' },
              ...mark('grant.created', toDate(now)),
            },
            { ...options, returnDocument: 'after' },
          ),
        async readBack() {
          const found = await grants.findOne({ _id }, decisive);
          if (!found) return { result: null };
          if (isRedeemed(found)) {
            // Null: the code was used. After a recovery or revocation, this call's secret is void.
            const ours = isSame(found.redemption_id, redemption_id);
            return { result: ours && isSame(found.secret_hash, secret) ? found : null };
          }
          const expired = (found.code_expires_at?.getTime() ?? 0) <= clock();
          return expired ? ('unknown' as const) : ('retry' as const);
        },
      }));
      return document && fromGrantDocument(document);
    },

    async findCode(grant_id) {
      const document = await database.decide(({ grants, decisive }) =>
        grants.findOne({ _id: toId(grant_id) }, decisive),
      );
      return document?.code_hash ? toCodeState(document) : null;
    },

    countPendingCodes: ({ now, limit }) =>
      database.read(({ grants, listing }) =>
        grants.countDocuments({ code_expires_at: { $gt: toDate(now) } }, { ...listing, limit }),
      ),
  };
}

function boundTo({ resources, ...proof }: Redemption): Filter<GrantDocument> {
  // Null matches an absent field too.
  const ofResource = { resource: { $in: resources } } as Filter<GrantDocument>;
  return { ...boundToRedirect(proof), ...(resources !== null && ofResource) };
}

function boundToRedirect({
  redirect_uri,
  code_challenge,
}: Pick<Redemption, 'redirect_uri' | 'code_challenge'>): Filter<GrantDocument> {
  const absent = { $exists: false };
  if (redirect_uri !== null) {
    // Null matches an absent field too: then any redirect URI is ignored.
    const same = { redirect_uri: { $in: [redirect_uri, null] } } as Filter<GrantDocument>;
    return { code_challenge: code_challenge ?? absent, ...same };
  }
  return code_challenge === null
    ? { code_challenge: absent, redirect_uri_given: absent }
    : { code_challenge };
}
