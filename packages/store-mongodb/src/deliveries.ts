import type { Milliseconds } from '@latchkey/domain/clock';
import { afterChange } from '@latchkey/domain/domain-error';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import { deliveryStatuses } from '@latchkey/schema';
import { endpointAfter, isStillTold } from '@latchkey/store/delivery';
import { ATTEMPTS_KEPT, type DeliveryRecord, type EndpointRecord } from '@latchkey/store/records';
import type { EndedTry, Store } from '@latchkey/store/store';
import type { Binary, UpdateFilter } from 'mongodb';
import { countEvents } from './count-events.ts';
import { allOf, type Database } from './database.ts';
import {
  type DeliveryDocument,
  fromDeliveryDocument,
  toAttemptDocument,
  toDeliveryDocument,
} from './documents/deliveries.ts';
import {
  type EndpointItem,
  type EndpointsDocument,
  fromEndpointItem,
  fromOwner,
  itemUpdate,
  toEndpointItem,
} from './documents/endpoints.ts';
import { fromId, isSame, olderThan, toDate, toId } from './documents/values.ts';
import { dropDeliveries, tryDropUntold } from './drop-deliveries.ts';
import { endpointsWithDue } from './due-endpoints.ts';
import { findOwners } from './find-owners.ts';
import { insertOnce } from './insert-once.ts';
import { giveBodies, makeDeliveries } from './make-deliveries.ts';
import { asRead, atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';

type Deliveries = Pick<
  Store,
  | 'makeDeliveries'
  | 'createPing'
  | 'listDueEndpoints'
  | 'claimDeliveries'
  | 'endTries'
  | 'releaseDeliveries'
  | 'findDelivery'
  | 'listDeliveries'
  | 'retryDelivery'
  | 'replayDeliveries'
  | 'countEvents'
>;

const undelivered = { $in: ['failed', 'dropped'] as const };

type Claiming = Parameters<Store['claimDeliveries']>[0];

interface FoundEndpoint {
  record: EndpointRecord;
  /** Whether its application, if it has one, is disabled or deleted. */
  isDisabled: boolean;
}

export function deliveries(
  database: Database,
  { findEndpoint }: Pick<Store, 'findEndpoint'>,
): Deliveries {
  async function findEnabled(ids: readonly Binary[]): Promise<Map<string, FoundEndpoint>> {
    const owners = await findOwners(database, ids);
    return new Map(
      owners.flatMap(({ _id, endpoints, enabled_application }) => {
        const isDisabled = fromOwner(_id) !== null && enabled_application.length === 0;
        return endpoints
          .map((item) => fromEndpointItem(_id, item))
          .filter(({ disabled_reason }) => disabled_reason === null)
          .map((record) => [record.id, { record, isDisabled }] as const);
      }),
    );
  }

  async function findPinged(endpoint_id: string): Promise<EndpointRecord | null> {
    const endpoint = await findEndpoint(endpoint_id);
    return endpoint?.disabled_reason === null ? endpoint : null;
  }

  async function findDelivery(delivery_id: string): Promise<DeliveryRecord | null> {
    const found = await database.decide(({ deliveries, decisive }) =>
      deliveries.findOne({ _id: toId(delivery_id) }, decisive),
    );
    return found && fromDeliveryDocument(found);
  }

  /** Those that are due for longest. */
  async function listDue(endpoint_id: string, due_at: object, most: number): Promise<Binary[]> {
    if (most < 1) return [];
    const found = await database.readByIndex('deliveries_due', ({ deliveries }, listing) =>
      deliveries
        .find({ endpoint_id: toId(endpoint_id), due_at }, { ...listing, projection: { _id: 1 } })
        .sort({ due_at: 1 })
        .limit(most)
        .toArray(),
    );
    return found.map(({ _id }) => _id);
  }

  /** @returns the ids of some deliveries, among them all that have the claim now */
  async function claimDue({ now, claim, endpoints }: Claiming): Promise<Binary[]> {
    const due_at = { $lte: toDate(now) };
    const due = (await allOf(endpoints.map(({ id, most }) => listDue(id, due_at, most)))).flat();
    if (due.length === 0) return [];
    const which = { _id: { $in: due } };
    const count = await database.write<number>(({ deliveries }) => ({
      isPart: true,
      async send(options) {
        const claimed = { $set: { claim, due_at: toDate(now + CLAIM_LASTS) } };
        return (await deliveries.updateMany({ ...which, due_at }, claimed, options)).modifiedCount;
      },
    }));
    if (count === due.length) return due;
    // Another process was faster with the rest.
    const own = await database.decideByIndex('_id_', ({ deliveries }, options) =>
      deliveries.find({ ...which, claim }, options).toArray(),
    );
    const countOf = (id: string) => own.filter((one) => fromId(one.endpoint_id) === id).length;
    const left = endpoints.map(({ id, most }) => ({ id, most: most - countOf(id) }));
    return [...due, ...(await claimDue({ now, claim, endpoints: left }))];
  }

  async function endDeliveries(tries: readonly EndedTry[]): Promise<void> {
    const updates = tries.map((ended) => {
      const { delivery_id, claim, attempt, next_attempt_at, now } = ended;
      const isDelivered = attempt.result === 'delivered';
      const isOver = isDelivered || next_attempt_at === null;
      const $push = {
        attempts: { $each: [toAttemptDocument(attempt)], $slice: -ATTEMPTS_KEPT },
      };
      const update: UpdateFilter<DeliveryDocument> = isOver
        ? {
            $set: { status: isDelivered ? 'delivered' : 'failed', ended_at: toDate(now) },
            $unset: { claim: '', due_at: '' },
          }
        : { $set: { due_at: toDate(next_attempt_at) }, $unset: { claim: '' } };
      const filter = { _id: toId(delivery_id), claim };
      return { updateOne: { filter, update: { ...update, $inc: { tries: 1 }, $push } } };
    });
    await database.write<void>(({ deliveries }) => ({
      isPart: true,
      async send(options) {
        await deliveries.bulkWrite(updates, { ...options, ordered: false });
      },
    }));
  }

  /**
   * Many processes end tries of one endpoint, so only a change of whether it fails conflicts with another.
   *
   * @returns the endpoint if this disabled it
   */
  async function endTriesOf(
    endpoint_id: string,
    tries: readonly EndedTry[],
  ): Promise<EndpointRecord | null> {
    const id = toId(endpoint_id);
    const changed = await retryOnConflict<EndpointsDocument, { disabled: EndpointRecord | null }>(
      () =>
        database.readByIndex('endpoints_by_id', ({ endpoints }, listing) =>
          endpoints.findOne({ 'endpoints.id': id }, listing),
        ),
      (revision, { _id, endpoints }) => {
        const item = endpoints.find((one) => isSame(one.id, id)) as EndpointItem;
        const before = fromEndpointItem(_id, item);
        let after = before;
        for (const ended of tries) after = { ...after, ...endpointAfter(after, ended) };
        const isDisabled = before.disabled_reason !== after.disabled_reason;
        const names = ['disabled_reason', 'failing_since', 'failures'] as const;
        // Whether it fails comes and goes, so a late command could find it as it was.
        const isChanged = names.some((name) => before[name] !== after[name]);
        return database.write<{ disabled: EndpointRecord | null } | null>(
          ({ endpoints, decisive }) => ({
            async send(options) {
              const { matchedCount } = await endpoints.updateOne(
                {
                  ...{ _id, ...(isChanged && atRevision(revision)) },
                  endpoints: { $elemMatch: inStatus(item) },
                },
                {
                  ...itemUpdate(after, names),
                  ...(after.last_success_at !== null && {
                    $max: { 'endpoints.$.last_success_at': toDate(after.last_success_at) },
                  }),
                  ...(isChanged && { $inc: { revision: 1 } }),
                },
                options,
              );
              return matchedCount === 1 ? { disabled: isDisabled ? after : null } : null;
            },
            async readBack() {
              const made = { _id, endpoints: { $elemMatch: inStatus(toEndpointItem(after)) } };
              const isMade = (await endpoints.findOne(made, decisive)) !== null;
              return isMade ? { result: { disabled: isDisabled ? after : null } } : 'retry';
            },
          }),
        );
      },
    );
    return changed?.disabled ?? null;
  }

  return {
    makeDeliveries: (now) => makeDeliveries(database, now),

    async createPing(delivery) {
      const { endpoint_id, claim, created_at } = delivery;
      if ((await findPinged(endpoint_id)) === null) return null;
      const document = toDeliveryDocument(delivery);
      await insertOnce(database, ({ deliveries }) => deliveries, document);
      return afterChange(async () => {
        // Again: what was pending when it was disabled is dropped.
        const endpoint = await findPinged(endpoint_id);
        const which = { _id: document._id, claim };
        if (endpoint === null) await dropDeliveries(database, which, created_at);
        return endpoint;
      });
    },

    async listDueEndpoints({ now, except }) {
      const due = await endpointsWithDue(database, toDate(now));
      const others = due.filter((id) => !except.includes(fromId(id)));
      if (others.length === 0) return [];
      const owners = await database.readByIndex('endpoints_by_id', ({ endpoints }, listing) =>
        endpoints.find({ 'endpoints.id': { $in: others } }, listing).toArray(),
      );
      const ids = new Set(others.map(fromId));
      return owners.flatMap(({ endpoints }) =>
        endpoints.flatMap(({ id, disabled_reason, failing_since, last_success_at }) =>
          disabled_reason === undefined && ids.has(fromId(id))
            ? { id: fromId(id), isDoubtful: failing_since !== undefined || !last_success_at }
            : [],
        ),
      );
    },

    async claimDeliveries({ now, claim, endpoints: asked }) {
      const due = await claimDue({ now, claim, endpoints: asked });
      if (due.length === 0) return [];
      const which = { _id: { $in: due } };
      const findClaimed = () =>
        database.decideByIndex('_id_', ({ deliveries }, options) =>
          deliveries.find({ ...which, claim }, options).toArray(),
        );
      // After the claim: it is tried with what the endpoint has now.
      let [claimed, enabled] = await Promise.all([
        findClaimed(),
        findEnabled(asked.map(({ id }) => toId(id))),
      ]);
      // The process that made it stopped before it had written its message.
      const unwritten = claimed.filter(({ body }) => body === undefined);
      if (unwritten.length > 0) {
        await giveBodies(database, unwritten, { of: { claim }, now });
        claimed = await findClaimed();
      }
      const place = new Map(due.map((id, index) => [fromId(id), index]));
      const found = claimed
        .map((document) => ({
          delivery: fromDeliveryDocument(document),
          ...enabled.get(fromId(document.endpoint_id)),
        }))
        .sort(
          (one, other) => (place.get(one.delivery.id) ?? 0) - (place.get(other.delivery.id) ?? 0),
        );
      const told = found.flatMap(({ delivery, record, isDisabled = true }) =>
        record && isStillTold(delivery, { isDisabled }) ? [{ delivery, endpoint: record }] : [],
      );
      const ids = new Set(told.map(({ delivery }) => delivery.id));
      const untold = claimed.filter(({ _id }) => !ids.has(fromId(_id))).map(({ _id }) => _id);
      if (untold.length > 0) await dropDeliveries(database, { _id: { $in: untold }, claim }, now);
      return told;
    },

    async endTries(tries) {
      if (tries.length === 0) return [];
      await endDeliveries(tries);
      const byEndpoint = Map.groupBy(tries, ({ endpoint_id }) => endpoint_id);
      const changed = await allOf([...byEndpoint].map(([id, of]) => endTriesOf(id, of)));
      const disabled = changed.filter((endpoint) => endpoint !== null);
      const ids = disabled.map(({ id }) => toId(id));
      const now = Math.max(...tries.map((ended) => ended.now));
      if (ids.length > 0) await tryDropUntold(database, ids, now);
      return disabled;
    },

    async releaseDeliveries(claim, ids, now) {
      const which = { _id: { $in: ids.map(toId) }, claim };
      await database.write<void>(({ deliveries }) => ({
        isPart: true,
        async send(options) {
          const update = { $set: { due_at: toDate(now) }, $unset: { claim: '' } } as const;
          await deliveries.updateMany(which, update, options);
        },
      }));
    },

    findDelivery,

    async listDeliveries(filter, { limit, before }) {
      const [index, which] =
        'grant_id' in filter
          ? ['deliveries_by_grant', { grant_id: toId(filter.grant_id) }]
          : ['deliveries_by_endpoint', { endpoint_id: toId(filter.endpoint_id) }];
      // One status after the other, so that the index has the order.
      const status = { $in: filter.status ? [filter.status] : [...deliveryStatuses] };
      const documents = await database.readByIndex(index, ({ deliveries }, listing) =>
        deliveries
          .find({ ...which, status, ...olderThan(before) }, listing)
          .sort({ _id: -1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(fromDeliveryDocument);
    },

    async retryDelivery(delivery_id, now) {
      const ended = {
        ...{ _id: toId(delivery_id), ended_at: { $exists: true }, body: { $exists: true } },
      };
      const found = await database.decide(({ deliveries, decisive }) =>
        deliveries.findOne(ended, decisive),
      );
      if (found === null) return null;
      const { ended_at: _, ...kept } = found;
      const revision = revisionOf(found);
      return database.write<DeliveryRecord | null>(({ deliveries, decisive }) => ({
        async send(options) {
          // No findOneAndUpdate: MongoDB would keep the message, and the name in it, for its retries.
          const { matchedCount } = await deliveries.updateOne(
            { ...ended, ...atRevision(revision) },
            anew(now),
            options,
          );
          return matchedCount === 1 ? fromDeliveryDocument({ ...kept, ...begun(now) }) : null;
        },
        async readBack() {
          const after = await deliveries.findOne({ _id: found._id }, decisive);
          if (revisionOf(after) === revision) return 'retry';
          return { result: after && fromDeliveryDocument(after) };
        },
      }));
    },

    async replayDeliveries({ endpoint_id, since, now, limit }) {
      const which = {
        endpoint_id: toId(endpoint_id),
        status: undelivered,
        ended_at: { $gte: toDate(since) },
        type: { $ne: 'ping' },
        body: { $exists: true },
      } as const;
      const found = await database.decideByIndex(
        'deliveries_by_endpoint',
        ({ deliveries }, options) =>
          deliveries
            .find(which, { ...options, projection: { revision: 1 } })
            .sort({ _id: -1 })
            .limit(limit)
            .toArray(),
      );
      for (const batch of asRead(found)) {
        const again = { ...batch, status: undelivered, body: { $exists: true } };
        await database.write<void>(({ deliveries }) => ({
          isPart: true,
          async send(options) {
            await deliveries.updateMany(again, anew(now), options);
          },
        }));
      }
      // Due again by now, whoever did it: of a repetition, the response counts nothing.
      return found.length;
    },

    countEvents: (limit) => countEvents(database, limit),
  };
}

const absent = { $exists: false };

/** What a try depends on. */
const inStatus = ({ id, url, disabled_reason, failing_since, failures }: EndpointItem) => ({
  ...{ id, url, failures },
  disabled_reason: disabled_reason ?? absent,
  failing_since: failing_since ?? absent,
});

const begun = (now: Milliseconds) =>
  ({ status: 'pending', due_at: toDate(now), tries: 0 }) as const;

const anew = (now: Milliseconds): UpdateFilter<DeliveryDocument> => ({
  $set: begun(now),
  $unset: { ended_at: '' },
  $inc: { revision: 1 },
});
