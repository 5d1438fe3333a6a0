import type { Milliseconds } from '@latchkey/domain/clock';
import { uuidV7Time } from '@latchkey/schema';
import type { ConnectionRecord } from '@latchkey/store/records';
import type { Parties, Store } from '@latchkey/store/store';
import type { Collection, Filter } from 'mongodb';
import type { ById, Database } from './database.ts';
import {
  fromGrantDocument,
  type GrantDocument,
  isRedeemed,
  type JoinedGrantDocument,
  ofParties,
  type RedeemedDocument,
  toConnectedGrant,
  toGrantAuthentication,
  toGrantHistory,
  toListedHistory,
  toRevokedRecord,
  unrevoked,
  withDetails,
} from './documents/grants.ts';
import { grantMarks } from './documents/marks.ts';
import {
  fromId,
  initiatorField,
  isSame,
  olderThan,
  toDate,
  toHash,
  toId,
} from './documents/values.ts';
import type { DecisiveOptions } from './fence.ts';
import { atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';

type Grants = Pick<
  Store,
  | 'revokeGrant'
  | 'recoverGrant'
  | 'findGrantHistory'
  | 'listGrantHistories'
  | 'newestGrantTime'
  | 'authenticateGrant'
  | 'noteUse'
  | 'listGrants'
  | 'listConnections'
  | 'listActiveGrants'
  | 'revokeActive'
>;

const unusedSince = (time: Milliseconds): Filter<GrantDocument> => ({
  created_at: { $lt: toDate(time) },
  last_used_at: { $not: { $gte: toDate(time) } },
});

const redeemed = { created_at: { $exists: true } } satisfies Filter<GrantDocument>;

// Small enough that no update delays others.
const BATCH_SIZE = 1_000;

const active = { ...withDetails, ...unrevoked };

const activeOf = (parties: Parties): Filter<GrantDocument> => ({
  ...ofParties(parties),
  ...active,
});

const unrevokedIndex = ({ account_id }: Parties) =>
  account_id === undefined ? 'unrevoked_by_application' : 'unrevoked_by_account';

export function grants(database: Database, recordsEvents = false): Grants {
  const mark = grantMarks(recordsEvents);
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
        ...(unused_before !== undefined && unusedSince(unused_before)),
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
              ...mark('grant.revoked', toDate(now)),
            },
            { ...options, returnDocument: 'after' },
          ),
        async readBack() {
          const found = await grants.findOne(grant, decisive);
          if (found === null) return { result: null };
          if (!found.revoked_at) {
            // The command may arrive after the redemption of a code, and then end its grant.
            return isRedeemed(found) ? ('retry' as const) : ('unknown' as const);
          }
          // Two calls of one request in one millisecond both count as ours.
          const isOurs =
            found.revoked_at.getTime() === now &&
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
      // Found before it is changed: a command that arrives after a later redemption would replace
      // the secret of that.
      const document = await retryOnConflict(() => find(recoverable), recoverAt);
      return document && fromGrantDocument(document);
    },

    async findGrantHistory(grant_id) {
      const document = await find({ _id: toId(grant_id) });
      return document && (document.account || document.created_at)
        ? toGrantHistory(document)
        : null;
    },

    async listGrantHistories(account_id, { limit, before }) {
      const documents = await database.readByIndex('grants_by_account', ({ grants }, options) =>
        grants
          .find({ account_id: toId(account_id), ...withDetails, ...olderThan(before) }, options)
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(toListedHistory);
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
      const noted = await database.write<true | null>(({ grants, decisive }) => ({
        grant_id,
        async send(options) {
          // No findOneAndUpdate: MongoDB would keep the document, and the name in it, for its retries.
          const { matchedCount } = await grants.updateOne(
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
            options,
          );
          return matchedCount === 1 || null;
        },
        readBack: async () => ((await grants.findOne(used, decisive)) ? { result: true } : 'retry'),
      }));
      return (noted ?? (await find(used))) !== null;
    },

    async listGrants(filter, { limit, before }) {
      const [index, which] =
        'account_id' in filter
          ? ['grants_by_account', { account_id: toId(filter.account_id) }]
          : ['grants_by_application', { application_id: toId(filter.application_id) }];
      const documents = await database.readByIndex(index, ({ grants }, options) =>
        grants
          .find({ ...which, ...withDetails, ...olderThan(before) }, options)
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(fromGrantDocument);
    },

    async listConnections(account_id) {
      const documents = await database.decideByIndex(
        'unrevoked_by_account',
        ({ grants }, options) =>
          grants
            .aggregate<ConnectionDocument>(
              [
                { $match: { account_id: toId(account_id), ...active } },
                {
                  $group: {
                    _id: '$application_id',
                    scopes: { $addToSet: '$scope' },
                    resources: { $addToSet: '$resource' },
                    connected_at: { $min: '$created_at' },
                    last_used_at: { $max: '$last_used_at' },
                  },
                },
              ],
              options,
            )
            .toArray(),
      );
      return documents.map(
        ({ _id, scopes, resources, connected_at, last_used_at }): ConnectionRecord => ({
          application_id: fromId(_id),
          scopes,
          resources,
          connected_at: connected_at.getTime(),
          last_used_at: last_used_at?.getTime() ?? null,
        }),
      );
    },

    async listActiveGrants(filter, { limit, before }) {
      const documents = await database.decideByIndex(
        unrevokedIndex(filter),
        ({ grants }, options) =>
          grants
            .find(
              { ...activeOf(filter), ...olderThan(before) },
              {
                ...options,
                projection: {
                  application_id: 1,
                  resource: 1,
                  scope: 1,
                  created_at: 1,
                  last_used_at: 1,
                },
              },
            )
            .sort({ _id: -1 })
            .limit(limit)
            .toArray(),
      );
      return documents.map((document) => toConnectedGrant(document as RedeemedDocument));
    },

    async revokeActive({ now, initiator, ...parties }) {
      // Decisive: when it finds none, every earlier revocation is durable.
      const found = await database.decideByIndex(unrevokedIndex(parties), ({ grants }, options) =>
        grants
          .find(activeOf(parties), { ...options, projection: { _id: 1 } })
          // The order of both indexes.
          .sort({ application_id: 1, _id: -1 })
          .limit(BATCH_SIZE)
          .toArray(),
      );
      if (found.length === 0) return null;
      const ofBatch = { _id: { $in: found.map(({ _id }) => _id) } };
      await database.write<true | undefined>(({ grants }) => ({
        isPart: true,
        async send(options) {
          const { modifiedCount } = await grants.updateMany(
            { ...ofBatch, revoked_at: { $exists: false } },
            {
              $set: { revoked_at: toDate(now), ...initiatorField('revoked_by', initiator) },
              $unset: { secret_hash: '' },
              ...mark('grant.revoked', toDate(now)),
            },
            options,
          );
          return modifiedCount > 0 || undefined;
        },
      }));
      // Another call may have revoked some in between.
      const ours = { revoked_at: toDate(now), 'revoked_by.request_id': initiator.request_id };
      const revoked = await database.decideByIndex('_id_', ({ grants }, options) =>
        grants.find({ ...ofBatch, ...ours }, options).toArray(),
      );
      return revoked.map(toRevokedRecord);
    },
  };
}

interface ConnectionDocument {
  _id: GrantDocument['_id'];
  scopes: string[];
  resources: string[];
  connected_at: Date;
  last_used_at: Date | null;
}

function findJoined(
  grants: Collection<GrantDocument>,
  byId: ById,
  options: DecisiveOptions,
): Promise<JoinedGrantDocument[]> {
  const join = (from: string, localField: string, as: string) => ({
    $lookup: { from, localField, foreignField: '_id', as },
  });
  return grants
    .aggregate<JoinedGrantDocument>(
      [
        { $match: { ...byId, ...redeemed } },
        join('applications', 'application_id', 'joined_application'),
        join('accounts', 'account_id', 'joined_account'),
        // It may have 8 KB, and nothing here depends on it.
        { $unset: 'joined_application.logo_uri' },
      ],
      options,
    )
    .toArray();
}
