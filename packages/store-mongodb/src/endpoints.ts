import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@latchkey/domain/clock';
import { endpointChanges } from '@latchkey/store/delivery';
import type { EndpointRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Binary } from 'mongodb';
import type { Database } from './database.ts';
import {
  type EndpointItem,
  type EndpointsDocument,
  fromEndpointItem,
  fromOwner,
  itemUpdate,
  toEndpointItem,
  toOwner,
} from './documents/endpoints.ts';
import { GREATEST_ID, isSame, toId } from './documents/values.ts';
import { dropUntold, tryDropUntold } from './drop-deliveries.ts';
import { isDuplicateKey } from './errors.ts';
import { existingOwners } from './find-owners.ts';
import { tellAll } from './make-deliveries.ts';
import { atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';

type Endpoints = Pick<
  Store,
  | 'createEndpoint'
  | 'listEndpoints'
  | 'findEndpoint'
  | 'updateEndpoint'
  | 'rotateEndpoint'
  | 'deleteEndpoint'
>;

const existing = { deleted_at: { $exists: false } } as const;

export function endpoints(database: Database, clock: Clock): Endpoints {
  const hasApplication = async (_id: Binary) =>
    (await database.decide(({ applications, decisive }) =>
      applications.findOne({ _id, ...existing }, { ...decisive, projection: { _id: 1 } }),
    )) !== null;

  async function findOwner(endpoint_id: string): Promise<EndpointsDocument | null> {
    const which = { 'endpoints.id': toId(endpoint_id) };
    const found = await database.decideByIndex('endpoints_by_id', ({ endpoints }, options) =>
      endpoints.findOne(which, options),
    );
    const isThere = found && (fromOwner(found._id) === null || (await hasApplication(found._id)));
    return isThere ? found : null;
  }

  function recordIn(document: EndpointsDocument | null, endpoint_id: string) {
    const id = toId(endpoint_id);
    const item = document?.endpoints.find((one) => isSame(one.id, id));
    return document && item ? fromEndpointItem(document._id, item) : null;
  }

  const change = (
    endpoint_id: string,
    changesOf: (found: EndpointRecord) => Partial<EndpointRecord>,
  ): Promise<EndpointRecord | null> =>
    retryOnConflict(
      () => findOwner(endpoint_id),
      async (revision, owner) => {
        const before = recordIn(owner, endpoint_id);
        if (before === null) return null;
        const changes = changesOf(before);
        const names = Object.keys(changes) as (keyof EndpointItem)[];
        if (names.length === 0) return before;
        const { _id } = owner;
        return database.write<EndpointRecord | null>(({ endpoints, decisive }) => ({
          async send(options) {
            const after = await endpoints.findOneAndUpdate(
              { _id, ...atRevision(revision), 'endpoints.id': toId(endpoint_id) },
              { ...itemUpdate({ ...before, ...changes }, names), $inc: { revision: 1 } },
              { ...options, returnDocument: 'after' },
            );
            return recordIn(after, endpoint_id);
          },
          async readBack() {
            const found = await endpoints.findOne({ _id }, decisive);
            if (revisionOf(found) === revision) return 'retry';
            const after = recordIn(found, endpoint_id);
            const isMade = after && isDeepStrictEqual({ ...after, ...changes }, after);
            return isMade ? { result: after } : 'unknown';
          },
        }));
      },
    );

  const insert = (revision: number, _id: Binary, item: EndpointItem) =>
    database.write<'created' | null>(({ endpoints, decisive }) => ({
      async send(options) {
        try {
          const { matchedCount, upsertedCount } = await endpoints.updateOne(
            { _id, ...atRevision(revision) },
            { $push: { endpoints: item }, $inc: { revision: 1 } },
            { ...options, upsert: revision === 0 },
          );
          return matchedCount + upsertedCount === 1 ? 'created' : null;
        } catch (error) {
          if (isDuplicateKey(error)) return null;
          throw error;
        }
      },
      async readBack() {
        const found = await endpoints.findOne({ _id }, decisive);
        if (revisionOf(found) === revision) return 'retry';
        const isMade = found?.endpoints.some(({ id }) => isSame(id, item.id));
        return isMade ? { result: 'created' } : 'unknown';
      },
    }));

  return {
    async createEndpoint(endpoint, { most }) {
      await tellAll(database, clock);
      const _id = toOwner(endpoint.application_id);
      if (endpoint.application_id !== null && !(await hasApplication(_id))) {
        return 'application_not_found';
      }
      const created = await retryOnConflict<
        EndpointsDocument,
        'created' | 'endpoint_limit_reached'
      >(
        async () =>
          (await database.decide(({ endpoints, decisive }) =>
            endpoints.findOne({ _id }, decisive),
          )) ?? { _id, endpoints: [] },
        async (revision, found) =>
          found.endpoints.length >= most
            ? 'endpoint_limit_reached'
            : insert(revision, _id, toEndpointItem(endpoint)),
      );
      return created ?? 'endpoint_limit_reached';
    },

    async listEndpoints({ application_id }, { limit, before }) {
      const documents = await database.read(({ endpoints, listing }) =>
        endpoints
          .aggregate<Pick<EndpointsDocument, '_id'> & { endpoints: EndpointItem }>(
            [
              { $match: application_id === undefined ? {} : { _id: toOwner(application_id) } },
              { $unwind: '$endpoints' },
              { $match: { 'endpoints.id': { $lt: toId(before ?? GREATEST_ID) } } },
              { $sort: { 'endpoints.id': -1 } },
              ...existingOwners,
              { $limit: limit },
            ],
            listing,
          )
          .toArray(),
      );
      return documents.map(({ _id, endpoints }) => fromEndpointItem(_id, endpoints));
    },

    findEndpoint: async (endpoint_id) => recordIn(await findOwner(endpoint_id), endpoint_id),

    async updateEndpoint(endpoint_id, changes) {
      const ids = [toId(endpoint_id)];
      // What was pending when it was disabled is not told any more.
      if (changes.disabled_reason === null) await dropUntold(database, ids, clock());
      await tellAll(database, clock);
      const after = await change(endpoint_id, (found) => endpointChanges(found, changes));
      if (after?.disabled_reason) await tryDropUntold(database, ids, clock());
      return after;
    },

    rotateEndpoint: (endpoint_id, { overlap_until }) =>
      change(endpoint_id, ({ secret_version }) => ({
        secret_version: secret_version + 1,
        overlap_until,
      })),

    async deleteEndpoint(endpoint_id, now) {
      const id = toId(endpoint_id);
      const deleted = await retryOnConflict(
        () => findOwner(endpoint_id),
        (revision, owner) => {
          const before = recordIn(owner, endpoint_id);
          const { _id } = owner;
          return database.write<EndpointRecord | null>(({ endpoints, decisive }) => ({
            async send(options) {
              const { matchedCount } = await endpoints.updateOne(
                { _id, ...atRevision(revision) },
                { $pull: { endpoints: { id } }, $inc: { revision: 1 } },
                options,
              );
              return matchedCount === 1 ? before : null;
            },
            async readBack() {
              const found = await endpoints.findOne({ _id }, decisive);
              if (revisionOf(found) === revision) return 'retry';
              return recordIn(found, endpoint_id) === null ? { result: before } : 'unknown';
            },
          }));
        },
      );
      if (deleted) await tryDropUntold(database, [id], now);
      return deleted;
    },
  };
}
