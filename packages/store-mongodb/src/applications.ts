import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { hashText } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import { generationsAfter } from '@latchkey/store/generations';
import type { ApplicationRecord, SecretRecord } from '@latchkey/store/records';
import {
  type DocumentedApplication,
  documentedChanges,
  outdatedSecrets,
  type ReadOptions,
  type Store,
} from '@latchkey/store/store';
import type { Document, Filter } from 'mongodb';
import type { Database } from './database.ts';
import {
  type AddressDocument,
  type ApplicationDocument,
  type AuthenticatingDocument,
  fromApplicationDocument,
  fromSecretDocument,
  type SecretDocument,
  toApplicationAuthentication,
  toApplicationDocument,
  toDeletionRecord,
  toSecretDocument,
} from './documents/applications.ts';
import { withDetails } from './documents/grants.ts';
import { type ApplicationMarkDocument, grantMarks } from './documents/marks.ts';
import {
  fromId,
  GREATEST_ID,
  initiatorField,
  isSame,
  olderThan,
  toDate,
  toHash,
  toId,
} from './documents/values.ts';
import { isDuplicateKey } from './errors.ts';
import { tellAll } from './make-deliveries.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';

type Applications = Pick<
  Store,
  | 'createApplication'
  | 'findApplication'
  | 'findDocumented'
  | 'putDocumented'
  | 'authenticateApplication'
  | 'listApplications'
  | 'addSecret'
  | 'removeSecret'
  | 'updateApplication'
  | 'setApplicationDisabled'
  | 'noteSecretUse'
  | 'deleteApplication'
  | 'listDeletions'
  | 'endGrants'
  | 'forgetDeletion'
>;

const projection = { logo_uri: 0 } as const;

const existing = { deleted_at: { $exists: false } } satisfies Filter<ApplicationDocument>;

export function applications(
  database: Database,
  clock: Clock,
  recordsEvents = false,
): Applications {
  const mark = grantMarks(recordsEvents);
  const findTogether = database.gatherReads(({ applications, decisive }, byId) =>
    applications.find(byId, decisive).toArray(),
  );
  const findAuthenticating = database.gatherReads(({ applications, decisive }, byId) =>
    applications.find<AuthenticatingDocument>(byId, { ...decisive, projection }).toArray(),
  );
  const find = async (application_id: string) => {
    const document = await findTogether(application_id);
    return document?.deleted_at ? null : document;
  };

  async function findApplication(
    application_id: string,
    { mayBeStale = false }: ReadOptions = {},
  ): Promise<ApplicationRecord | null> {
    const _id = toId(application_id);
    const document = mayBeStale
      ? await database.read(({ applications, plain }) =>
          applications.findOne({ _id, ...existing }, plain),
        )
      : await find(application_id);
    return document && fromApplicationDocument(document);
  }

  async function update(
    application_id: string,
    changesOf: (found: ApplicationDocument) => Partial<ApplicationDocument>,
    markOf: (found: ApplicationDocument) => ApplicationMarkDocument | null = () => null,
  ): Promise<ApplicationRecord | null> {
    const _id = toId(application_id);
    const document = await retryOnConflict(
      () => find(application_id),
      (revision, before) => {
        const asked = changesOf(before);
        const generations = generationsAfter(fromApplicationDocument(before), asked);
        const changes = { ...asked, ...(generations.now > 0 && { generations }) };
        const mark = markOf(before);
        const isMade = (found: ApplicationDocument) =>
          isDeepStrictEqual({ ...found, ...changes }, found);
        return database.write(({ applications, decisive }) => ({
          send: (options) =>
            applications.findOneAndUpdate(
              { _id, ...existing, ...atRevision(revision) },
              { $set: changes, $inc: { revision: 1 }, ...(mark && { $push: { marks: mark } }) },
              { ...options, returnDocument: 'after' },
            ),
          async readBack() {
            const found = await applications.findOne({ _id }, decisive);
            if (revisionOf(found) === revision) return 'retry' as const;
            if (!found || found.deleted_at) return 'unknown' as const;
            // Otherwise a later change may have undone this one.
            return isMade(found) ? { result: found } : ('unknown' as const);
          },
        }));
      },
    );
    return document && fromApplicationDocument(document);
  }

  async function insert(application: ApplicationRecord, options: { mayExist: boolean }) {
    const document = toApplicationDocument(application);
    let mayExist = options.mayExist;
    await database.write<void>(({ applications }) => ({
      async send(options) {
        try {
          await applications.insertOne(document, options);
        } catch (error) {
          // If the id is new, a duplicate can only be this call's first attempt.
          if (!mayExist || !isDuplicateKey(error)) throw error;
        } finally {
          mayExist = true;
        }
      },
    }));
  }

  const addressOf = (uri: string) => toHash(hashText(uri));

  /** The id of the application with this document, which may not be there yet. A deleted one gets another. */
  async function claim({ id, document }: DocumentedApplication): Promise<string> {
    const _id = addressOf(document.uri);
    const own = { _id, application_id: toId(id) };
    const claimed = await retryOnConflict<AddressDocument, AddressDocument>(
      async () =>
        (await database.decide(({ addresses, decisive }) =>
          addresses.findOne({ _id }, decisive),
        )) ?? own,
      async (revision, found) => {
        const isTaken =
          revision > 0 && !(await findTogether(fromId(found.application_id)))?.deleted_at;
        if (isTaken) return found;
        const isOwn = await replaceAtRevision<AddressDocument>(
          database,
          ({ addresses }) => addresses,
          revision,
          own,
          ({ application_id }) => isSame(application_id, own.application_id),
        );
        return isOwn && own;
      },
    );
    return fromId((claimed ?? own).application_id);
  }

  return {
    createApplication: (application) => insert(application, { mayExist: false }),

    async findDocumented(uri, { mayBeStale = false } = {}) {
      const _id = addressOf(uri);
      const address = mayBeStale
        ? await database.read(({ addresses, plain }) => addresses.findOne({ _id }, plain))
        : await database.decide(({ addresses, decisive }) => addresses.findOne({ _id }, decisive));
      if (address === null) return null;
      return findApplication(fromId(address.application_id), { mayBeStale });
    },

    async putDocumented(application) {
      const id = await claim(application);
      let found = await find(id);
      if (found === null) {
        // Another call may have claimed the id and have stopped before this.
        await insert({ ...application, id }, { mayExist: true });
        found = await find(id);
      }
      const changesOf = (found: ApplicationDocument) =>
        documentedChanges(fromApplicationDocument(found), application);
      if (found && isDeepStrictEqual({ ...found, ...changesOf(found) }, found)) {
        return fromApplicationDocument(found);
      }
      const changed = found && (await update(id, changesOf));
      // It was deleted just now. The next call makes another one.
      if (changed === null) throw new DomainError('store_unavailable');
      return changed;
    },

    findApplication,

    async authenticateApplication(application_id, { mayBeStale = false } = {}) {
      const _id = toId(application_id);
      const document = mayBeStale
        ? await database.read(({ applications, plain }) =>
            applications.findOne<AuthenticatingDocument>({ _id }, { ...plain, projection }),
          )
        : await findAuthenticating(application_id);
      return document && !document.deleted_at ? toApplicationAuthentication(document) : null;
    },

    async listApplications({ limit, before }, { documented } = {}) {
      const ofKind = documented === undefined ? {} : { document: { $exists: documented } };
      const documents = await database.read(({ applications, listing }) =>
        applications
          // Behind all ids are the addresses of documents.
          .find({ ...existing, ...ofKind, _id: { $lt: toId(before ?? GREATEST_ID) } }, listing)
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
      // The command checks the count, so of two calls with room for one secret only one adds.
      const withRoom = {
        _id: toId(application_id),
        ...existing,
        $expr: { $lt: [{ $size: live }, most] },
      };
      const added = await retryOnConflict(
        () =>
          database.decide(({ applications, decisive }) => applications.findOne(withRoom, decisive)),
        (revision, { secrets }) =>
          database.write<'added' | null>(({ applications, decisive }) => ({
            async send(options) {
              const { matchedCount } = await applications.updateOne(
                { ...withRoom, ...atRevision(revision) },
                [{ $set: { secrets: withSecret(secret, secrets, now), revision: revision + 1 } }],
                options,
              );
              return matchedCount === 1 ? 'added' : null;
            },
            async readBack() {
              const found = await applications.findOne({ _id: withRoom._id }, decisive);
              if (found?.secrets.some((present) => isSame(present.id, id))) {
                return { result: 'added' };
              }
              return revisionOf(found) === revision ? 'retry' : 'unknown';
            },
          })),
      );
      if (added) return added;
      return (await find(application_id)) ? 'secret_limit_reached' : 'application_not_found';
    },

    async removeSecret(application_id, secret_id) {
      const id = toId(secret_id);
      const filter = { _id: toId(application_id), 'secrets.id': id };
      const updated = await database.write(({ applications, decisive }) => ({
        send: (options) =>
          applications.findOneAndUpdate(
            filter,
            { $pull: { secrets: { id } }, $inc: { revision: 1 } },
            { ...options, returnDocument: 'after' },
          ),
        async readBack() {
          if (await applications.findOne(filter, decisive)) return 'retry' as const;
          return { result: await applications.findOne({ _id: filter._id, ...existing }, decisive) };
        },
      }));
      if (updated) return fromApplicationDocument(updated);
      return (await find(application_id)) ? 'secret_not_found' : 'application_not_found';
    },

    updateApplication: (application_id, changes) => update(application_id, () => changes),
    setApplicationDisabled: (application_id, disabled, now) =>
      update(
        application_id,
        (found) => ({
          disabled,
          ...(found.disabled && !disabled && { enabled_at: toDate(now) }),
        }),
        (found) => {
          if (!recordsEvents || found.disabled === disabled) return null;
          const type = disabled ? 'application.disabled' : 'application.enabled';
          return { id: toId(randomUUID()), type, at: toDate(now), name: found.name };
        },
      ),

    async deleteApplication({ application_id, deleted_at, deleted_by }) {
      const _id = toId(application_id);
      const deleted = await retryOnConflict(
        () => find(application_id),
        (revision, found) =>
          database.write<ApplicationRecord | 'application_enabled' | null>(
            ({ applications, decisive }) => ({
              async send(options) {
                if (!found.disabled) return 'application_enabled';
                const { matchedCount } = await applications.updateOne(
                  { _id, ...existing, ...atRevision(revision) },
                  {
                    $set: {
                      ...{
                        name: '',
                        secrets: [],
                        redirect_uris: [],
                        scopes: null,
                        default_scopes: null,
                      },
                      ...{ logo_uri: null, homepage_uri: null, policy_uri: null, tos_uri: null },
                      ...{ deleted_at: toDate(deleted_at), deletion_pending: true },
                      ...initiatorField('deleted_by', deleted_by),
                      ...(recordsEvents && found.document && { document_uri: found.document.uri }),
                    },
                    $unset: { document: '' },
                    $inc: { revision: 1 },
                  },
                  options,
                );
                return matchedCount === 1 ? fromApplicationDocument(found) : null;
              },
              async readBack() {
                const after = await applications.findOne({ _id }, decisive);
                if (after?.deleted_at) return { result: fromApplicationDocument(found) };
                return revisionOf(after) === revision ? 'retry' : 'unknown';
              },
            }),
          ),
      );
      return deleted ?? 'application_not_found';
    },

    async listDeletions() {
      const documents = await database.read(({ applications, listing }) =>
        applications.find({ deletion_pending: true }, listing).toArray(),
      );
      return documents.map(toDeletionRecord);
    },

    async endGrants({ application_id, deleted_at, deleted_by }, { limit, before }) {
      const ofApplication = { application_id: toId(application_id) };
      if (before === null) {
        const pending = { code_expires_at: { $exists: true }, created_at: { $exists: false } };
        await database.write<void>(({ grants }) => ({
          async send(options) {
            await grants.deleteMany({ ...ofApplication, ...pending }, options);
          },
        }));
      }
      const documents = await database.readByIndex('grants_by_application', ({ grants }, options) =>
        grants
          .find(
            {
              ...ofApplication,
              ...withDetails,
              ...olderThan(before),
            },
            { ...options, projection: { _id: 1 } },
          )
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      const ids = documents.map(({ _id }) => _id);
      let revoked = 0;
      if (ids.length > 0) {
        const made = await database.write<number | null>(({ grants }) => ({
          async send(options) {
            const { modifiedCount } = await grants.updateMany(
              { _id: { $in: ids }, revoked_at: { $exists: false } },
              {
                $set: {
                  revoked_at: toDate(deleted_at),
                  ...initiatorField('revoked_by', deleted_by),
                  revoked_reason: 'application_deleted',
                },
                $unset: { secret_hash: '' },
                ...mark('grant.revoked', toDate(deleted_at)),
              },
              options,
            );
            return modifiedCount || null;
          },
        }));
        revoked = made ?? 0;
      }
      const last = ids.at(-1);
      return { revoked, before: last && ids.length === limit ? fromId(last) : null };
    },

    async forgetDeletion(application_id) {
      if (recordsEvents) await tellAll(database, clock);
      await database.write<void>(({ applications }) => ({
        async send(options) {
          await applications.updateOne(
            { _id: toId(application_id) },
            { $unset: { deletion_pending: '', document_uri: '' } },
            options,
          );
        },
      }));
    },

    async noteSecretUse(application_id, secret_id, at) {
      await database.writeOnce(async ({ applications, bestEffort }) => {
        await applications.updateOne(
          { _id: toId(application_id), 'secrets.id': toId(secret_id) },
          { $max: { 'secrets.$.last_used_at': toDate(at) } },
          bestEffort,
        );
      });
    },
  };
}

/** An expression, since the array may be outdated: noting a use raises no revision. */
function withSecret(
  secret: SecretRecord,
  present: readonly SecretDocument[],
  now: Milliseconds,
): Document {
  const outdated = outdatedSecrets(present.map(fromSecretDocument), now).map(toId);
  const kept = {
    $filter: { input: '$secrets', cond: { $not: [{ $in: ['$$this.id', outdated] }] } },
  };
  return { $concatArrays: [kept, [{ $literal: toSecretDocument(secret) }]] };
}
