import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { Adapter, Joined, WriteOptions } from '../adapter.ts';
import {
  either,
  type Givens,
  greatest,
  idOf,
  isSet,
  lessThan,
  moreThan,
  oneOf,
  when,
} from '../condition.ts';
import { endpointAfter, endpointChanges } from '../delivery.ts';
import type { EndedTry, EndpointChanges, EventCounts, ListRange } from '../inputs.ts';
import type { RecordOf } from '../kind.ts';
import { applications, deliveries, endpoints as kind, endpointOwners as owners } from '../kinds.ts';
import { type EndpointRecord, HOST_OWNER } from '../records.ts';
import type { ByHand } from './by-hand.ts';
import { changeAll } from './change-all.ts';
import type { Idleness } from './names.ts';
import { byId, type Listed, newestFirst, type OfId, olderThan } from './sites.ts';

type Stored = RecordOf<typeof kind>;

/** An endpoint with what its application says of it. */
export interface ToldEndpoint {
  stored: Stored;
  endpoint: EndpointRecord;
  /** Whether its application is deleted: it is told of the ends of its grants, and found by nobody. */
  isHidden: boolean;
  /** Whether its application is disabled or deleted. */
  isDisabled: boolean;
  /** Null of the host. */
  application: Idleness | null;
}

const FIELDS = Object.keys(kind.fields) as (keyof Stored)[];

const OF_OWNER = {
  ownership: { kind: owners, by: 'owner', fields: ['ids'] },
  application: {
    ...{ kind: applications, by: 'owner' },
    fields: ['deleted_at', 'disabled', 'idle_days', 'enabled_at'],
  },
} as const;

/** What other operations need of endpoints. */
export type EndpointsInside = ReturnType<typeof endpointsInside>;

export function endpointsInside(db: Adapter) {
  const findStored = db.joined(kind, byId, FIELDS, OF_OWNER, toldEndpoint);
  const findTold = (id: string) => findStored({ id });
  const findIds = db.find(
    owners,
    ({ owner }: Givens<{ owner: string }>) => ({ owner }),
    ['ids'],
    ({ ids }) => ids,
  );
  const listOwners = db.list(
    owners,
    ({ asked }: Givens<{ asked: readonly string[] }>) => ({ owner: oneOf(asked) }),
    ['owner'],
    ({ owner }) => owner,
    { isDecisive: true },
  );
  const drop = db.changeSome(
    deliveries,
    (of: Givens<Dropped>) => ({
      where: [
        { endpoint_id: of.endpoint_id, status: 'pending' as const, ended_at: null },
        when(of.below, { generation: lessThan(of.below) }),
      ],
      set: { status: 'dropped' as const, due_at: null, claim: null, ended_at: of.now },
    }),
    ['id'],
    idOf,
    { index: 'deliveries_by_endpoint', ends: true },
  );

  /** What is pending for an endpoint that is deleted, or was pending when it was disabled. */
  async function untoldOf(endpoint_id: string, now: number): Promise<Dropped> {
    const told = await findTold(endpoint_id);
    return { endpoint_id, below: told === null ? null : told.stored.generation, now };
  }

  return {
    findTold,

    findIds: async (owner: string) => (await findIds({ owner })) ?? [],

    /** Those of these applications that may have endpoints. */
    withEndpoints: async (asked: readonly string[]): Promise<string[]> =>
      asked.length === 0 ? [] : listOwners({ asked }),

    /** The endpoints of the host and of applications, deleted ones too, by their owner. */
    async endpointsOf(application_ids: readonly string[]): Promise<Map<string, ToldEndpoint[]>> {
      const asked = [HOST_OWNER, ...application_ids].map((owner) => findIds({ owner }));
      const ids = (await Promise.all(asked)).flatMap((of) => of ?? []);
      const found = await Promise.all(ids.map(findTold));
      return Map.groupBy(
        found.flatMap((told) => told ?? []),
        ({ stored }) => stored.owner,
      );
    },

    async findVisible(id: string): Promise<ToldEndpoint | null> {
      const told = await findTold(id);
      return told === null || told.isHidden ? null : told;
    },

    async dropUntold(endpoint_id: string, now: number): Promise<void> {
      await changeAll(drop, await untoldOf(endpoint_id, now));
    },

    /**
     * @param limit - Default: that of the database
     * @returns whether there may be more
     */
    dropSomeUntold: async (endpoint_id: string, now: number, limit?: number): Promise<boolean> =>
      (await drop({ ...(await untoldOf(endpoint_id, now)), ...(limit && { limit }) })) !== null,
  };
}

interface Dropped {
  endpoint_id: string;
  /** Null for all. */
  below: number | null;
  now: number;
}

/** Those of a deleted application are found by none of these methods. */
export function endpoints(
  db: Adapter,
  clock: Clock,
  { findTold, findIds, findVisible, dropSomeUntold, dropUntold }: EndpointsInside,
  { endpointsWithDue, countPending }: ByHand,
  tell: () => Promise<void>,
) {
  const insert = db.insertNew(kind);
  const remove = db.removeSome(kind, byId);
  const list = db.list(kind, ({ before }: Givens<Listed>) => [olderThan(before)], ['id'], idOf, {
    order: newestFirst,
  });
  const findApplication = db.find(
    applications,
    ({ id }: Givens<OfId>) => ({ id, deleted_at: null }),
    ['id'],
    () => true,
  );
  const add = db.modify(
    owners,
    ({ owner }: Owned & { most: number }) => owner,
    (found, { owner, endpoint_id, most }) => {
      const ids = found?.ids ?? [];
      if (ids.length >= most) return { result: 'endpoint_limit_reached' as const };
      return {
        result: 'created' as const,
        put: { owner, ids: [...ids, endpoint_id] },
        isMade: (later) => later.ids.includes(endpoint_id),
      };
    },
  );
  const take = db.modify(
    owners,
    ({ owner }: Owned) => owner,
    (found, { endpoint_id }) => {
      if (!found?.ids.includes(endpoint_id)) return { result: false };
      return {
        result: true,
        put: { ids: found.ids.filter((id) => id !== endpoint_id) },
        isMade: (later) => !later.ids.includes(endpoint_id),
      };
    },
    { ends: true },
  );
  const changing = <I extends OfId, R>(
    changesOf: (found: Stored, input: I) => Partial<Stored>,
    result: (before: Stored, after: Stored) => R,
    options?: WriteOptions<I>,
  ) =>
    db.modify(
      kind,
      ({ id }: I) => id,
      (found, input) => {
        if (found === null) return { result: null };
        const changes = changesOf(found, input);
        const isDisabled = found.disabled_reason === null && changes.disabled_reason;
        const put = { ...changes, generation: found.generation + (isDisabled ? 1 : 0) };
        return { result: result(found, { ...found, ...put }), put };
      },
      options,
    );
  const after = (_: Stored, stored: Stored) => endpointOf(stored);
  const update = changing(
    (found, { changes }: OfId & { changes: Parameters<typeof endpointChanges>[1] }) =>
      endpointChanges(found, changes),
    after,
    { ends: true },
  );
  const rotate = changing(
    ({ secret_version }, { overlap_until }: OfId & { overlap_until: number | null }) => ({
      ...{ secret_version: secret_version + 1, overlap_until },
    }),
    after,
    { ends: true },
  );
  const failing = changing(
    (found, { tries }: OfId & { tries: readonly EndedTry[] }) => {
      const { url, disabled_reason, last_success_at, failing_since, failures } = found;
      let after = { disabled_reason, last_success_at, failing_since, failures };
      for (const ended of tries) after = endpointAfter({ url, ...after }, ended);
      return after;
    },
    (before, stored) =>
      before.disabled_reason === stored.disabled_reason ? null : endpointOf(stored),
  );

  async function visibleOf(ids: readonly string[]): Promise<EndpointRecord[]> {
    const found = await Promise.all(ids.map(findVisible));
    return found.flatMap((told) => told?.endpoint ?? []);
  }

  /** Runs after a change was made. If it fails, the change stays made, and a sweep drops what is left. */
  const tryDropUntold = (id: string, now: number) => dropUntold(id, now).catch(() => undefined);

  const listFailing = db.list(
    kind,
    () => ({ failing_since: isSet, disabled_reason: null }),
    ['id'],
    idOf,
    { index: 'failing_endpoints' },
  );
  const listOwners = db.list(
    owners,
    ({ after }: Givens<{ after: string }>) => ({ owner: moreThan(after) }),
    ['owner', 'ids'],
    (owned) => owned,
    { order: { by: ['owner'] } },
  );
  const findRemembered = db.find(
    applications,
    ({ id }: Givens<OfId>) => [{ id }, either({ deleted_at: null }, { unfinished_since: isSet })],
    ['id'],
    () => true,
  );
  const listPending = db.list(
    deliveries,
    ({ endpoint_id }: Givens<{ endpoint_id: string }>) => ({ endpoint_id, due_at: isSet }),
    ['id'],
    idOf,
    { index: 'deliveries_due', isDecisive: true },
  );
  const removeOwner = db.removeSome(owners, ({ owner }: Givens<{ owner: string }>) => ({ owner }));

  const operations = {
    /**
     * Creates an endpoint unless its application, or the host, has `most`: not even concurrent calls exceed
     * that. No event that was acknowledged before the call is told to it, but the ends of grants that a mark has ended and
     * that are written down later.
     */
    async createEndpoint(
      { application_id, ...endpoint }: EndpointRecord,
      { most }: { most: number },
    ): Promise<'created' | 'endpoint_limit_reached' | 'application_not_found'> {
      await tell();
      const owner = application_id ?? HOST_OWNER;
      if (application_id !== null && (await findApplication({ id: application_id })) === null) {
        return 'application_not_found';
      }
      // Nobody finds it before its owner has it.
      await insert([{ ...endpoint, owner, generation: 0 }]);
      const result = await add({ owner, endpoint_id: endpoint.id, most });
      if (result !== 'created') await remove({ id: endpoint.id });
      return result;
    },

    /** Null for the host's endpoints; undefined for all. */
    async listEndpoints(
      { application_id }: { application_id?: string | null | undefined },
      { limit, before }: ListRange,
    ): Promise<EndpointRecord[]> {
      if (application_id !== undefined) {
        const ids = await findIds(application_id ?? HOST_OWNER);
        const older = ids.filter((id) => before === null || id < before);
        return (await visibleOf(older.toSorted().reverse())).slice(0, limit);
      }
      const found: EndpointRecord[] = [];
      for (let from = before; ; ) {
        const ids = await list({ before: from, limit });
        found.push(...(await visibleOf(ids)));
        from = ids.at(-1) ?? null;
        if (ids.length < limit || found.length >= limit) return found.slice(0, limit);
      }
    },

    async findEndpoint(id: string): Promise<EndpointRecord | null> {
      return (await findVisible(id))?.endpoint ?? null;
    },

    /**
     * Returns the changed endpoint; null if there is none. Enabling drops first what is left from before, and clears
     * `failing_since` and `failures`; disabling drops what is pending, and keeps an earlier reason. Events that were
     * acknowledged before the call are told as before.
     */
    async updateEndpoint(id: string, changes: EndpointChanges): Promise<EndpointRecord | null> {
      await tell();
      if ((await findVisible(id)) === null) return null;
      // First: of an enabled one, what is left would be dropped at its claim alone, before all that is new.
      if (changes.disabled_reason === null) await dropUntold(id, clock());
      const updated = await update({ id, changes });
      if (updated !== null && changes.disabled_reason) await tryDropUntold(id, clock());
      return updated;
    },

    /** Raises the version of the secret by one. Returns the changed endpoint; null if there is none. */
    async rotateEndpoint(
      id: string,
      { overlap_until }: { overlap_until: Milliseconds | null },
    ): Promise<EndpointRecord | null> {
      return (await findVisible(id)) && rotate({ id, overlap_until });
    },

    /** Returns the deleted endpoint; null if there is none. What is pending is dropped. */
    async deleteEndpoint(id: string, now: Milliseconds): Promise<EndpointRecord | null> {
      const told = await findVisible(id);
      const isTaken = told !== null && (await take({ owner: told.stored.owner, endpoint_id: id }));
      if (!isTaken) return null;
      await tryDropUntold(id, now);
      await remove({ id }).catch(() => undefined);
      return told.endpoint;
    },

    /** For monitoring: it may miss the latest changes. `limit` bounds the time too. */
    async countEvents(limit: number): Promise<EventCounts> {
      const [failing, pending] = await Promise.all([listFailing({}), countPending(limit)]);
      return { ...pending, failing_endpoints: (await visibleOf(failing)).length };
    },
  };

  const succeed = db.change(
    kind,
    ({ id, at }: Givens<OfId & { at: number }>) => ({
      where: { id, failing_since: null },
      set: { last_success_at: greatest(at) },
    }),
    [],
    () => true,
  );

  return {
    ...operations,

    /** @returns the endpoint if the ends of these tries have disabled it */
    async endTriesOf(id: string, tries: readonly EndedTry[]): Promise<EndpointRecord | null> {
      if (tries.every(({ attempt }) => attempt.result === 'delivered')) {
        // Many processes end tries of one endpoint, so the usual end conflicts with none of another.
        const at = Math.max(...tries.map(({ attempt }) => attempt.at));
        if (await succeed({ id, at })) return null;
      }
      if ((await findTold(id)) === null) return null;
      const disabled = await failing({ id, tries });
      // The end of a try waits for no more: the sweep drops the rest.
      const now = Math.max(...tries.map(({ now }) => now));
      if (disabled) await dropSomeUntold(id, now).catch(() => undefined);
      return disabled;
    },

    /** Several processes may run it at once. Returns whether there may be more. */
    async sweepEndpoints(now: Milliseconds, most: number): Promise<boolean> {
      // Of those that their tries have disabled, and what a process that was held up made for one since.
      for (const id of await endpointsWithDue(Number.MAX_SAFE_INTEGER)) {
        const told = await findTold(id);
        const isOver = told?.endpoint.disabled_reason !== null;
        if (isOver && (await dropSomeUntold(id, now, most))) return true;
      }
      // Those of deleted applications, once all is told.
      for (let after = HOST_OWNER, limit = 100; ; ) {
        const owned = await listOwners({ after, limit });
        for (const { owner, ids } of owned) {
          if (await findRemembered({ id: owner })) continue;
          const pending = ids.map((endpoint_id) => listPending({ endpoint_id, limit: 1 }));
          if ((await Promise.all(pending)).flat().length > 0) continue;
          for (const id of ids) await remove({ id });
          await removeOwner({ owner });
        }
        after = owned.at(-1)?.owner ?? after;
        if (owned.length < limit) return false;
      }
    },
  };
}

interface Owned {
  owner: string;
  endpoint_id: string;
}

function toldEndpoint({
  ownership,
  application,
  ...stored
}: Stored & Joined<typeof OF_OWNER>): ToldEndpoint | null {
  if (!ownership?.ids.includes(stored.id)) return null;
  const isOfHost = stored.owner === HOST_OWNER;
  const isHidden = !isOfHost && application?.deleted_at !== null;
  const isDisabled = isHidden || (!isOfHost && application?.disabled !== false);
  return { stored, endpoint: endpointOf(stored), isHidden, isDisabled, application };
}

function endpointOf({ owner, generation: _, ...endpoint }: Stored): EndpointRecord {
  return { ...endpoint, application_id: owner === HOST_OWNER ? null : owner };
}
