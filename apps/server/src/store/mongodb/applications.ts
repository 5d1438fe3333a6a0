import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import {
  fromApplicationDocument,
  isSame,
  toApplicationDocument,
  toDate,
  toId,
  toSecretDocument,
} from './documents.ts';
import { insertion } from './insert.ts';
import { inTurn, ofRevision, revisionOf } from './revision.ts';

type Applications = Pick<
  Store,
  | 'createApplication'
  | 'findApplication'
  | 'listApplications'
  | 'addSecret'
  | 'removeSecret'
  | 'setApplicationDisabled'
  | 'noteSecretUse'
>;

export function applications(connection: Connection): Applications {
  const find = (application_id: string) =>
    connection.read(({ applications, decisive }) =>
      applications.findOne({ _id: toId(application_id) }, decisive),
    );

  return {
    async createApplication(application) {
      const document = toApplicationDocument(application);
      await connection.write(({ applications }) => insertion(applications, document));
    },

    async findApplication(application_id) {
      const document = await find(application_id);
      return document && fromApplicationDocument(document);
    },

    async listApplications({ limit, before }) {
      const documents = await connection.read(({ applications, listing }) =>
        applications
          .find(before === null ? {} : { _id: { $lt: toId(before) } }, listing)
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(fromApplicationDocument);
    },

    async addSecret(application_id, secret, { most, now }) {
      const id = toId(secret.id);
      const live = {
        $filter: {
          input: '$secrets',
          as: 'secret',
          cond: {
            $or: [
              { $eq: ['$$secret.expires_at', null] },
              { $gt: ['$$secret.expires_at', toDate(now)] },
            ],
          },
        },
      };
      // Counted by the write itself: of two calls with room for one, the later finds none.
      const withRoom = { _id: toId(application_id), $expr: { $lt: [{ $size: live }, most] } };
      const added = await inTurn(
        () =>
          connection.read(({ applications, decisive }) => applications.findOne(withRoom, decisive)),
        (revision) =>
          connection.write<'added' | null>(({ applications, decisive }) => ({
            async send(durable) {
              const { matchedCount } = await applications.updateOne(
                { ...withRoom, ...ofRevision(revision) },
                { $push: { secrets: toSecretDocument(secret) }, $inc: { revision: 1 } },
                durable,
              );
              return matchedCount === 1 ? 'added' : null;
            },
            async readBack() {
              const found = await applications.findOne({ _id: withRoom._id }, decisive);
              if (found?.secrets.some((present) => isSame(present.id, id))) {
                return { result: 'added' };
              }
              return revisionOf(found) === revision ? 'again' : 'unknown';
            },
          })),
      );
      if (added) return added;
      return (await find(application_id)) ? 'secret_limit_reached' : 'application_not_found';
    },

    async removeSecret(application_id, secret_id) {
      const id = toId(secret_id);
      const filter = { _id: toId(application_id), 'secrets.id': id };
      const updated = await connection.write(({ applications, decisive }) => ({
        send: (durable) =>
          applications.findOneAndUpdate(
            filter,
            { $pull: { secrets: { id } }, $inc: { revision: 1 } },
            { ...durable, returnDocument: 'after' },
          ),
        async readBack() {
          if (await applications.findOne(filter, decisive)) return 'again' as const;
          return { result: await applications.findOne({ _id: filter._id }, decisive) };
        },
      }));
      if (updated) return fromApplicationDocument(updated);
      return (await find(application_id)) ? 'secret_not_found' : 'application_not_found';
    },

    async setApplicationDisabled(application_id, disabled) {
      const _id = toId(application_id);
      const document = await inTurn(
        () => find(application_id),
        (revision) =>
          connection.write(({ applications, decisive }) => ({
            send: (durable) =>
              applications.findOneAndUpdate(
                { _id, ...ofRevision(revision) },
                { $set: { disabled }, $inc: { revision: 1 } },
                { ...durable, returnDocument: 'after' },
              ),
            async readBack() {
              const found = await applications.findOne({ _id }, decisive);
              if (revisionOf(found) === revision) return 'again' as const;
              // Made, by us or by another who wanted the same; else it was undone by a later one.
              return found?.disabled === disabled ? { result: found } : ('unknown' as const);
            },
          })),
      );
      return document && fromApplicationDocument(document);
    },

    async noteSecretUse(application_id, secret_id, at) {
      await connection.writeCasually(async ({ applications, bestEffort }) => {
        await applications.updateOne(
          { _id: toId(application_id), 'secrets.id': toId(secret_id) },
          { $max: { 'secrets.$.last_used_at': toDate(at) } },
          bestEffort,
        );
      });
    },
  };
}
