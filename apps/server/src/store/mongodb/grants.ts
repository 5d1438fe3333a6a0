import { uuidV7Time } from '@latchkey/schema';
import type { Collection, Filter } from 'mongodb';
import type { Milliseconds } from '../../clock.ts';
import type { GrantRecord } from '../records.ts';
import type { ListRange, Store } from '../store.ts';
import type { ById, Database, ListWork } from './database.ts';
import {
  fromGrantDocument,
  type GrantDocument,
  type JoinedGrantDocument,
  toGrantAuthentication,
  toGrantHistory,
  toRevokedRecord,
} from './documents/grants.ts';
import { fromId, initiatorField, isSame, toDate, toHash, toId } from './documents/values.ts';
import type { DecisiveOptions } from './fence.ts';
import { atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';
import type { ReadBack } from './uncertain-writes.ts';

type Grants = Pick<
  Store,
  | 'revokeGrant'
  | 'recoverGrant'
  | 'findGrantHistory'
  | 'newestGrantTime'
  | 'authenticateGrant'
  | 'noteUse'
  | 'listGrants'
  | 'listActiveGrants'
>;

const withDetails = {
  created_at: { $exists: true },
  scope: { $exists: true },
} satisfies Filter<GrantDocument>;

const unusedBefore = (time: Milliseconds): Filter<GrantDocument> => ({
  created_at: { $lt: toDate(time) },
  last_used_at: { $not: { $gte: toDate(time) } },
});

const redeemed = { created_at: { $exists: true } } satisfies Filter<GrantDocument>;

function result<T>(document: T | null): ReadBack<T> {
  return document === null ? 'retry' : { result: document };
}

const listOf =
  (which: Filter<GrantDocument>, { limit, before }: ListRange): ListWork<GrantRecord[]> =>
  async ({ grants }, options) => {
    const older = before === null ? {} : { _id: { $lt: toId(before) } };
    const documents = await grants
      .find({ ...which, ...withDetails, ...older }, options)
      .sort({ _id: -1 })
      .limit(limit)
      .toArray();
    return documents.map(fromGrantDocument);
  };

export function grants(database: Database): Grants {
  const find = (filter: Filter<GrantDocument> & { _id: GrantDocument['_id'] }) =>
    database.decide(({ grants, decisive }) => grants.findOne(filter, decisive));

  const findGathered = database.gatherReads(({ grants, decisive }, byId) =>
    findJoined(grants, byId, decisive),
  );
  const findPlainly = async (grant_id: string) => {
    const [document] = await database.read(({ grants, plain }) =>
      findJoined(grants, { _id: toId(grant_id) }, plain),
    );
    return document ?? null;
  };

  return {
    async revokeGrant(revocation) {
      const { grant_id, application_id, onlyActive = false, unused_before } = revocation;
      const { reason, now, initiator } = revocation;
      const grant = {
        _id: toId(grant_id),
        ...(application_id === null ? {} : { application_id: toId(application_id) }),
      };
      const before = { ...grant, revoked_at: { $exists: true } };
      const which = {
        ...{ ...grant, ...redeemed, revoked_at: { $exists: false } },
        ...(unused_before !== undefined && unusedBefore(unused_before)),
      };
      const revoked = await database.write(({ grants, decisive }) => ({
        grant_id,
        send: (options) =>
          grants.findOneAndUpdate(
            which,
            {
              $set: {
                revoked_at: toDate(now),
                ...(initiator && initiatorField('revoked_by', initiator)),
                ...(reason && { revoked_reason: reason }),
              },
              $unset: { secret_hash: '' },
            },
            { ...options, returnDocument: 'after' },
          ),
        async readBack() {
          const found = await grants.findOne(before, decisive);
          if (found === null) return 'retry' as const;
          // Two calls of one request in one millisecond both count as ours.
          const isOurs =
            found.revoked_at?.getTime() === now &&
            found.revoked_by?.request_id === initiator?.request_id;
          return { result: onlyActive && !isOurs ? null : found };
        },
      }));
      // For null too: the revocation of another call may not be durable yet.
      const document = revoked ?? (await find(before));
      if (document === null || (onlyActive && revoked === null)) return null;
      return toRevokedRecord(document);
    },

    async recoverGrant({ grant_id, application_id, secret_hash, redeemed_after, now, initiator }) {
      const _id = toId(grant_id);
      const secret = toHash(secret_hash);
      const recoverable = {
        _id,
        application_id: toId(application_id),
        created_at: { $gt: toDate(redeemed_after) },
        first_used_at: { $exists: false },
        revoked_at: { $exists: false },
      };
      const recoverAt = (revision: number) =>
        database.write(({ grants, decisive }) => ({
          grant_id,
          send: (options) =>
            grants.findOneAndUpdate(
              { ...recoverable, ...atRevision(revision) },
              {
                $set: {
                  secret_hash: secret,
                  recovered_at: toDate(now),
                  ...initiatorField('recovered_by', initiator),
                },
                $inc: { revision: 1 },
              },
              { ...options, returnDocument: 'after' },
            ),
          async readBack() {
            const found = await grants.findOne({ _id }, decisive);
            if (found && isSame(found.secret_hash, secret)) return { result: found };
            // Unknown after another recovery: the caller of this one may have its secret by now.
            return revisionOf(found) === revision ? ('retry' as const) : ('unknown' as const);
          },
        }));
      // Recovering twice is rare, so the first attempt needs no read.
      const document =
        (await recoverAt(0)) ?? (await retryOnConflict(() => find(recoverable), recoverAt));
      return document && fromGrantDocument(document);
    },

    async findGrantHistory(grant_id) {
      const document = await find({ _id: toId(grant_id) });
      return document && (document.account || document.created_at)
        ? toGrantHistory(document)
        : null;
    },

    async newestGrantTime() {
      const [newest] = await database.read(({ grants, listing }) =>
        grants
          .find({}, { ...listing, projection: { _id: 1 } })
          .sort({ _id: -1 })
          .limit(1)
          .toArray(),
      );
      return newest ? uuidV7Time(fromId(newest._id)) : null;
    },

    async authenticateGrant(grant_id, { currentAccount, mayBeStale = false }) {
      const document = mayBeStale ? await findPlainly(grant_id) : await findGathered(grant_id);
      return document && toGrantAuthentication(document, { currentAccount });
    },

    async noteUse({ grant_id, secret_hash, now, initiator }) {
      const at = toDate(now);
      const active = { _id: toId(grant_id), secret_hash: toHash(secret_hash) };
      const used = { ...active, last_used_at: { $gte: at } };
      const { first_used_by } = initiatorField('first_used_by', initiator);
      const noted = await database.write(({ grants, decisive }) => ({
        grant_id,
        send: (options) =>
          grants.findOneAndUpdate(
            { ...active, last_used_at: { $not: { $gte: at } } },
            [
              {
                $set: {
                  last_used_at: at,
                  first_used_at: { $ifNull: ['$first_used_at', at] },
                  first_used_by: { $ifNull: ['$first_used_by', { $literal: first_used_by }] },
                },
              },
            ],
            { ...options, returnDocument: 'after' },
          ),
        readBack: async () => result(await grants.findOne(used, decisive)),
      }));
      return (noted ?? (await find(used))) !== null;
    },

    listGrants(filter, range) {
      if ('account_id' in filter) {
        const ofAccount = { account_id: toId(filter.account_id) };
        return database.readByIndex('grants_by_account', listOf(ofAccount, range));
      }
      const ofApplication = { application_id: toId(filter.application_id) };
      return database.readByIndex('grants_by_application', listOf(ofApplication, range));
    },

    listActiveGrants({ account_id, application_id }, range) {
      const active = {
        account_id: toId(account_id),
        revoked_at: { $exists: false },
        ...(application_id !== undefined && { application_id: toId(application_id) }),
      };
      // Decisive, since a disconnect revokes exactly the grants in this list.
      return database.decideByIndex('grants_by_account', listOf(active, range));
    },
  };
}

function findJoined(
  grants: Collection<GrantDocument>,
  byId: ById,
  options: DecisiveOptions,
): Promise<JoinedGrantDocument[]> {
  const join = (from: string, localField: string, as: string) => ({
    $lookup: { from, localField, foreignField: '_id', as },
  });
  // Whole documents: a projection took 1.08 times as long.
  return grants
    .aggregate<JoinedGrantDocument>(
      [
        { $match: { ...byId, ...redeemed } },
        join('applications', 'application_id', 'joined_application'),
        join('accounts', 'account_id', 'joined_account'),
      ],
      options,
    )
    .toArray();
}
