import type { Filter } from 'mongodb';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import {
  fromGrantDocument,
  type GrantDocument,
  isSame,
  type JoinedGrantDocument,
  mark,
  toDate,
  toGrantAuthentication,
  toGrantHistory,
  toHash,
  toId,
} from './documents.ts';
import type { ReadBack } from './outcomes.ts';
import { inTurn, ofRevision, revisionOf } from './revision.ts';

type Grants = Pick<
  Store,
  | 'revokeGrant'
  | 'recoverGrant'
  | 'findGrant'
  | 'findGrantHistory'
  | 'authenticateGrant'
  | 'noteFirstUse'
  | 'listGrants'
>;

const exchanged = { created_at: { $exists: true } } satisfies Filter<GrantDocument>;

/** A document that shows the write was made, or none. */
function result<T>(document: T | null): ReadBack<T> {
  return document === null ? 'again' : { result: document };
}

export function grants(connection: Connection): Grants {
  const find = (filter: Filter<GrantDocument> & { _id: GrantDocument['_id'] }) =>
    connection.read(({ grants, decisive }) => grants.findOne(filter, decisive));

  return {
    async revokeGrant({ grant_id, application_id, now, origin }) {
      const grant = {
        _id: toId(grant_id),
        ...(application_id === null ? {} : { application_id: toId(application_id) }),
      };
      const before = { ...grant, revoked_at: { $exists: true } };
      const revoked = await connection.write(({ grants, decisive }) => ({
        grant_id,
        send: (durable) =>
          grants.findOneAndUpdate(
            { ...grant, ...exchanged, revoked_at: { $exists: false } },
            {
              $set: { revoked_at: toDate(now), ...mark('revoked_by', origin) },
              $unset: { secret_hash: '' },
            },
            { ...durable, returnDocument: 'after' },
          ),
        readBack: async () => result(await grants.findOne(before, decisive)),
      }));
      // Matched nothing: revoked before, or no such grant.
      const document = revoked ?? (await find(before));
      return document && fromGrantDocument(document);
    },

    async recoverGrant({ grant_id, application_id, secret_hash, exchanged_after, now, origin }) {
      const _id = toId(grant_id);
      const secret = toHash(secret_hash);
      const recoverable = {
        _id,
        application_id: toId(application_id),
        created_at: { $gt: toDate(exchanged_after) },
        first_used_at: { $exists: false },
        revoked_at: { $exists: false },
      };
      const recoverAt = (revision: number) =>
        connection.write(({ grants, decisive }) => ({
          grant_id,
          send: (durable) =>
            grants.findOneAndUpdate(
              { ...recoverable, ...ofRevision(revision) },
              {
                $set: {
                  secret_hash: secret,
                  recovered_at: toDate(now),
                  ...mark('recovered_by', origin),
                },
                // The mark is of the last recovery, as its time is.
                ...(origin === undefined && { $unset: { recovered_by: '' as const } }),
                $inc: { revision: 1 },
              },
              { ...durable, returnDocument: 'after' },
            ),
          async readBack() {
            const found = await grants.findOne({ _id }, decisive);
            if (found && isSame(found.secret_hash, secret)) return { result: found };
            // Overtaken by another recovery, whose secret somebody may have by now.
            return revisionOf(found) === revision ? ('again' as const) : ('unknown' as const);
          },
        }));
      // Hardly any grant is recovered twice: the first try does without a look.
      const document = (await recoverAt(0)) ?? (await inTurn(() => find(recoverable), recoverAt));
      return document && fromGrantDocument(document);
    },

    async findGrant(grant_id) {
      const document = await find({ _id: toId(grant_id), ...exchanged });
      return document && fromGrantDocument(document);
    },

    async findGrantHistory(grant_id) {
      const document = await find({ _id: toId(grant_id) });
      return document && toGrantHistory(document);
    },

    async authenticateGrant(grant_id, { currentAccount }) {
      const join = (from: string, localField: string, as: string) => ({
        $lookup: { from, localField, foreignField: '_id', as },
      });
      // The documents whole: to have the database leave out what is not needed, such as the marks, took
      // 1.08 times as long.
      const [document] = await connection.read(({ grants, decisive }) =>
        grants
          .aggregate<JoinedGrantDocument>(
            [
              { $match: { _id: toId(grant_id), ...exchanged } },
              join('applications', 'application_id', 'joined_application'),
              ...(currentAccount ? [join('accounts', 'account_id', 'joined_account')] : []),
            ],
            decisive,
          )
          .toArray(),
      );
      return document ? toGrantAuthentication(document) : null;
    },

    async noteFirstUse({ grant_id, secret_hash, now, origin }) {
      const active = { _id: toId(grant_id), secret_hash: toHash(secret_hash) };
      const used = { ...active, first_used_at: { $exists: true } };
      const noted = await connection.write(({ grants, decisive }) => ({
        grant_id,
        send: (durable) =>
          grants.findOneAndUpdate(
            { ...active, first_used_at: { $exists: false } },
            { $set: { first_used_at: toDate(now), ...mark('first_used_by', origin) } },
            { ...durable, returnDocument: 'after' },
          ),
        readBack: async () => result(await grants.findOne(used, decisive)),
      }));
      // Matched nothing: noted before, or the secret is not the grant's any more.
      return (noted ?? (await find(used))) !== null;
    },

    async listGrants(filter, { limit, before }) {
      const whose =
        'account_id' in filter
          ? { account_id: toId(filter.account_id) }
          : { application_id: toId(filter.application_id) };
      const documents = await connection.read(({ grants, listing }) =>
        grants
          .find(
            { ...whose, ...exchanged, ...(before === null ? {} : { _id: { $lt: toId(before) } }) },
            listing,
          )
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(fromGrantDocument);
    },
  };
}
