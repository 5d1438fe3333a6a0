import { randomUUID } from 'node:crypto';
import type { Milliseconds } from '@latchkey/domain/clock';
import { afterChange } from '@latchkey/domain/domain-error';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import { deliveryStatuses, eventTypes } from '@latchkey/schema';
import type { Adapter } from '../adapter.ts';
import {
  asIs,
  atLeast,
  either,
  type Givens,
  idOf,
  isSet,
  lessThan,
  moreThan,
  oneOf,
  plus,
  unless,
  when,
} from '../condition.ts';
import { isStillTold, standingOf } from '../delivery.ts';
import { accountUpdated, withChoice } from '../event.ts';
import type { ClaimedDelivery, DueEndpoint, EndedTry, ListRange } from '../inputs.ts';
import { type RecordOf, shownFields } from '../kind.ts';
import { accounts, grants, deliveries as kind } from '../kinds.ts';
import {
  ATTEMPTS_KEPT,
  type DeliveryRecord,
  type EndpointRecord,
  shownOf,
  type TriedEndpoint,
} from '../records.ts';
import type { ByHand } from './by-hand.ts';
import type { EndpointsInside, endpoints, ToldEndpoint } from './endpoints.ts';
import { endedNow, MARKED, MARKS } from './marks.ts';
import type { NamesInside } from './names.ts';
import { byId, type Listed, newestFirst, type OfId, olderThan } from './sites.ts';

type Stored = RecordOf<typeof kind>;
type Status = DeliveryRecord['status'];

const FIELDS = Object.keys(kind.fields) as (keyof Stored)[];
const DELIVERY = shownFields(kind);

const REPLAYED = ['id', 'round', 'names_of', 'names_for', 'created_at'] as const;

/** Whoever has the claim. */
interface Claimed extends OfId {
  claim: string;
  now: number;
}

/** What is begun anew, at the round that was read. */
interface Anew {
  round: string | null;
  anew: string;
  generation: number;
  now: number;
}

export function deliveries(
  db: Adapter,
  { findTold, findVisible, dropUntold }: EndpointsInside,
  { endTriesOf }: Pick<ReturnType<typeof endpoints>, 'endTriesOf'>,
  { endpointsWithDue }: Pick<ByHand, 'endpointsWithDue'>,
  { mayKnow, isEnding, forget }: Pick<NamesInside, 'mayKnow' | 'isEnding' | 'forget'>,
  { tell, tellSome }: { tell: () => Promise<void>; tellSome: () => Promise<boolean> },
) {
  const insert = db.insertOnce(kind);
  const find = db.find(kind, byId, FIELDS, asIs);
  /** Gathered: many tries end together. */
  const findEnding = db.find(kind, byId, ['claim', 'attempts'], asIs);
  // Gathered: many are claimed together.
  const findAccount = db.find(accounts, byId, ['account'], ({ account }) => account);
  const findChoice = db.joined(
    grants,
    byId,
    [...MARKED, 'choice'],
    MARKS,
    (found) => endedNow(found).choice,
  );
  const list = db.list(
    kind,
    (of: Givens<Listed & { endpoint_id: string; status: Status }>) => [
      { endpoint_id: of.endpoint_id, status: of.status },
      olderThan(of.before),
    ],
    DELIVERY,
    asIs,
    { index: 'deliveries_by_endpoint', order: newestFirst },
  );
  const listOfGrant = db.list(
    kind,
    (of: Givens<Listed & { grant_id: string; status: Status | null }>) => [
      { grant_id: of.grant_id },
      when(of.status, { status: of.status }),
      olderThan(of.before),
    ],
    DELIVERY,
    asIs,
    { index: 'deliveries_by_grant', order: newestFirst },
  );

  const claimDue = db.changeSome(
    kind,
    (of: Givens<{ endpoint_id: string; claim: string; after: number; until: number }>) => ({
      where: { endpoint_id: of.endpoint_id, due_at: lessThan(of.after) },
      set: { claim: of.claim, due_at: of.until },
    }),
    FIELDS,
    asIs,
    // What it misses, the next look finds.
    { index: 'deliveries_due', order: { by: ['due_at'] }, isDecisive: false, among: SHARE },
  );
  const drop = db.change(
    kind,
    (one: Givens<Claimed>) => ({
      where: { id: one.id, claim: one.claim },
      set: { status: 'dropped' as const, due_at: null, claim: null, ended_at: one.now },
    }),
    [],
    () => true,
  );
  /** What its endpoint may not know any more. */
  const refuse = db.change(
    kind,
    (one: Givens<Claimed>) => ({
      where: { id: one.id, claim: one.claim },
      set: {
        ...{ status: 'dropped' as const, due_at: null, claim: null, ended_at: one.now },
        ...{ body: null, names_of: null },
      },
    }),
    [],
    () => true,
  );
  const release = db.changeEach(kind, (one: Givens<Claimed>) => ({
    where: { id: one.id, claim: one.claim },
    set: { due_at: one.now, claim: null },
  }));
  // Nothing here returns a record: MongoDB would keep its message, and the name in it, for a retry of the command.
  const write = db.change(
    kind,
    (one: Givens<Claimed & { body: string }>) => ({
      where: { id: one.id, claim: one.claim, body: null },
      set: { body: one.body },
    }),
    [],
    () => true,
  );
  // Once it is made, the claim is gone, and it is not made again.
  const end = db.changeEach(
    kind,
    (one: Givens<Claimed & Pick<Stored, 'status' | 'due_at' | 'ended_at' | 'attempts'>>) => ({
      where: { id: one.id, claim: one.claim },
      set: {
        ...{ status: one.status, due_at: one.due_at, ended_at: one.ended_at, claim: null },
        ...{ attempts: one.attempts, tries: plus(1) },
      },
    }),
  );

  /** What has ended, and what waits for a later try. Nothing without a body: a person may be erased. */
  const canBegin = ({ now }: { now: Givens<Anew>['now'] }) => [
    { body: isSet },
    either<typeof kind>({ ended_at: isSet }, { claim: null, due_at: moreThan(now) }),
  ];
  const begun = ({ anew, generation, now }: Givens<Anew>) => ({
    ...{ ...BEGUN, due_at: now, round: anew, generation },
  });
  const begin = db.change(
    kind,
    (one: Givens<Anew & OfId>) => ({
      where: [{ id: one.id, round: one.round }, canBegin(one)],
      set: begun(one),
    }),
    [],
    () => true,
  );
  const beginSome = db.changeSome(
    kind,
    (of: Givens<Anew & { ids: readonly string[] }>) => ({
      where: [
        { id: oneOf(of.ids) },
        when(of.round, { round: of.round }),
        unless(of.round, { round: null }),
        canBegin(of),
      ],
      set: begun(of),
    }),
    ['id'],
    idOf,
    {},
  );
  const told = { type: oneOf(eventTypes), body: isSet };
  const listUndelivered = db.list(
    kind,
    (of: Givens<Replayed & { status: Status; since: number }>) => [
      { endpoint_id: of.endpoint_id, status: of.status, ended_at: atLeast(of.since), ...told },
    ],
    REPLAYED,
    asIs,
    { index: 'deliveries_by_endpoint', order: newestFirst, isDecisive: true },
  );
  const listWaiting = db.list(
    kind,
    (of: Givens<Replayed & { now: number }>) => [
      { endpoint_id: of.endpoint_id, due_at: moreThan(of.now), claim: null, ...told },
    ],
    REPLAYED,
    asIs,
    { index: 'deliveries_due', order: { by: ['due_at'] }, isDecisive: true },
  );

  /** With its message: the maker of an `account.updated` may have stopped before it had written one. */
  async function written(delivery: Stored & { claim: string }, now: number) {
    const { id, claim, body: found, event_id, created_at, account_id } = delivery;
    const account =
      found === null && account_id !== null && (await findAccount({ id: account_id }));
    if (!account) return delivery;
    const { body } = accountUpdated({ id: event_id, at: created_at }, account);
    return (await write({ id, claim, now, body })) ? { ...delivery, body } : delivery;
  }

  /** The choice of its grant stays where an erasure finds it. */
  async function chosen<One extends Stored>(one: One): Promise<One> {
    const { body, has_choice, grant_id } = one;
    if (body === null || !has_choice || grant_id === null) return one;
    return { ...one, body: withChoice(body, await findChoice({ id: grant_id })) };
  }

  async function knows({ application }: ToldEndpoint, one: Named, now: number): Promise<Knows> {
    const { names_of, names_for, created_at } = one;
    if (names_of === null) return 'yes';
    // What an erasure has not come to yet, it drops.
    if (names_for === null) return (await findAccount({ id: names_of })) === null ? 'no' : 'yes';
    if (application === null) return 'no';
    const pair = { account_id: names_of, application_id: names_for };
    if (await mayKnow(pair, application, now, created_at)) return 'yes';
    const isConnected = await mayKnow(pair, application, now);
    return isConnected && !(await isEnding(pair)) ? 'anew' : 'no';
  }

  /**
   * Those that their endpoint may be told of. Nothing that takes long comes behind the last question: all wait for the
   * slowest, and in that time users disconnect.
   *
   * @param refuse - what becomes of another. `anew`: it may be told once more events are deliveries
   * @param tell - makes them, or some: then it returns whether there may be more
   * @param read - what a message is told with, as old as the answer. Default: what there is
   * @param isRepeated - an answer is not asked for again because it came late
   */
  async function knownOf<One extends Named>(
    some: readonly Asked<One>[],
    now: number,
    { refuse, tell, read = async (one) => one }: Asking<One>,
    isRepeated = false,
  ): Promise<readonly Asked<One>[]> {
    const ask = () =>
      Promise.all(
        some.map(async ({ told, one }) => {
          const [answer, latest] = await Promise.all([knows(told, one, now), read(one)]);
          return { told, one: latest, answer };
        }),
      );
    let began = performance.now();
    let asked = await ask();
    if (asked.some(({ answer }) => answer === 'anew')) {
      const before = asked;
      // If the grants before it ended first, this takes the names back: the new one brings nothing back.
      const mayBeMore = await tell();
      const left = await Promise.all(some.map(({ one: { id } }) => find({ id })));
      began = performance.now();
      asked = (await ask()).map((one, index) => {
        const found = left[index];
        // An erasure has taken it back too, also where the account was put again since.
        const isLeft = found && (found.body !== null || found.status === 'pending');
        if (!isLeft) return { ...one, answer: 'no' };
        const isStillAnew = one.answer === 'anew' && before[index]?.answer === 'anew';
        return isStillAnew && mayBeMore !== true ? { ...one, answer: 'yes' } : one;
      });
    }
    const { known = [], refused } = Object.groupBy(asked, ({ answer }) =>
      answer === 'yes' ? 'known' : 'refused',
    );
    // By way of a connection that hung.
    const isLate = !isRepeated && performance.now() - began > LATE;
    if (refused === undefined && !isLate) return known;
    // A write takes as long as its disk.
    await Promise.all((refused ?? []).map(({ one, answer }) => refuse(one, now, answer)));
    return knownOf(known, now, { refuse, tell, read }, isLate || isRepeated);
  }

  /** Whoever begins a message anew waits for all events: it alone does. */
  const toBegin = {
    tell,
    async refuse({ names_of, names_for, created_at }: Named, now: number): Promise<void> {
      if (names_of === null || names_for === null) return;
      await forget({ account_id: names_of, application_id: names_for }, created_at, now);
    },
  };

  async function claimOf(
    endpoint_id: string,
    { now, claim, most }: { now: number; claim: string; most: number },
  ): Promise<Asked<Stored & { claim: string }>[]> {
    const due = { endpoint_id, claim, after: now + 1, until: now + CLAIM_LASTS, limit: most };
    let some: Stored[] | null;
    do {
      some = await claimDue(due);
      // Another process was faster with all of them.
    } while (some?.length === 0);
    if (some === null) return [];
    // After the claim: it is tried with what the endpoint has now.
    const told = await findTold(endpoint_id);
    if (told !== null) return some.map((one) => ({ told, one: { ...one, claim } }));
    await Promise.all(some.map(({ id }) => drop({ id, claim, now })));
    return [];
  }

  /** None if its endpoint is not told of it any more: then it is dropped. */
  async function tellable(
    { told, one }: Asked<Stored & { claim: string }>,
    now: number,
  ): Promise<Asked<Stored & { claim: string }>[]> {
    const delivery = await written(one, now);
    const isPast = delivery.generation !== told.stored.generation;
    if (!isPast && told.endpoint.disabled_reason === null && isStillTold(delivery, told)) {
      return [{ told, one: delivery }];
    }
    await drop({ id: one.id, claim: one.claim, now });
    return [];
  }

  /** What becomes of its delivery. None if the claim was lost. */
  async function endingOf(ended: EndedTry) {
    const { delivery_id: id, claim, attempt, next_attempt_at, now } = ended;
    const found = await findEnding({ id });
    if (found?.claim !== claim) return [];
    const isDelivered = attempt.result === 'delivered';
    const isOver = isDelivered || next_attempt_at === null;
    const status: Status = isDelivered ? 'delivered' : isOver ? 'failed' : 'pending';
    return [
      {
        ...{ id, claim, now, status },
        ...{ due_at: isOver ? null : next_attempt_at, ended_at: isOver ? now : null },
        attempts: [...found.attempts, attempt].slice(-ATTEMPTS_KEPT),
      },
    ];
  }

  async function findEnabled(endpoint_id: string) {
    const told = await findVisible(endpoint_id);
    return told?.endpoint.disabled_reason === null ? told : null;
  }

  return {
    /** Inserts the delivery of a ping, claimed for `CLAIM_LASTS`. Null without such an enabled endpoint. */
    async createPing(delivery: DeliveryRecord & { claim: string }): Promise<TriedEndpoint | null> {
      const { endpoint_id, created_at } = delivery;
      const before = await findEnabled(endpoint_id);
      if (before === null) return null;
      const { generation } = before.stored;
      await insert({ ...delivery, generation });
      return afterChange(async () => {
        // Again: what was pending when it was disabled is dropped.
        const told = await findEnabled(endpoint_id);
        if (told?.stored.generation === generation) return told.endpoint;
        await dropUntold(endpoint_id, created_at);
        return null;
      });
    },

    /** The enabled endpoints that have a delivery due, but for these. */
    async listDueEndpoints({
      now,
      except,
    }: {
      now: Milliseconds;
      except: readonly string[];
    }): Promise<DueEndpoint[]> {
      const due = await endpointsWithDue(now);
      const told = await Promise.all(due.filter((id) => !except.includes(id)).map(findTold));
      return told.flatMap((one) => {
        if (one?.endpoint.disabled_reason !== null) return [];
        const { id, application_id } = one.endpoint;
        return [{ id, application_id, standing: standingOf(one.endpoint) }];
      });
    },

    /**
     * Claims deliveries that are due, of many some of those due for longest, for `CLAIM_LASTS`. Of concurrent
     * calls, one receives a delivery. What its endpoint is not told any more is dropped instead: that of a disabled
     * application but `grant.revoked` and `application.…`, and a message without a body.
     *
     * @param claim - tells the calls apart
     */
    async claimDeliveries({
      now,
      claim,
      endpoints,
    }: {
      now: Milliseconds;
      claim: string;
      endpoints: readonly { id: string; most: number }[];
    }): Promise<ClaimedDelivery[]> {
      const asked = endpoints.filter(({ most }) => most > 0);
      const claimed = (
        await Promise.all(asked.map(({ id, most }) => claimOf(id, { now, claim, most })))
      ).flat();
      const left = (await Promise.all(claimed.map((one) => tellable(one, now)))).flat();
      const known = await knownOf(left, now, {
        // The others of the claim do not wait for it.
        refuse: ({ id }, now, answer) =>
          answer === 'anew'
            ? release([{ id, claim, now: now + LATER }])
            : refuse({ id, claim, now }),
        tell: tellSome,
        read: chosen,
      });
      return known.map(
        ({ told: { endpoint }, one }) =>
          ({ delivery: deliveryOf(one), endpoint }) as ClaimedDelivery,
      );
    },

    /**
     * Writes down the ends of tries. One whose claim was lost changes its endpoint alone.
     *
     * @returns the endpoints that this call disabled
     */
    async endTries(tries: readonly EndedTry[]): Promise<EndpointRecord[]> {
      await end((await Promise.all(tries.map(endingOf))).flat());
      const byEndpoint = Map.groupBy(tries, ({ endpoint_id }) => endpoint_id);
      const ended = await Promise.all([...byEndpoint].map(([id, of]) => endTriesOf(id, of)));
      return ended.filter((endpoint) => endpoint !== null);
    },

    /** Makes deliveries due again whose tries were cut. */
    async releaseDeliveries(
      claim: string,
      ids: readonly string[],
      now: Milliseconds,
    ): Promise<void> {
      await release(ids.map((id) => ({ id, claim, now })));
    },

    /** With erased messages, which have no body. */
    async findDelivery(id: string): Promise<DeliveryRecord | null> {
      const found = await find({ id });
      return found && deliveryOf(found);
    },

    async listDeliveries(
      filter: ({ endpoint_id: string } | { grant_id: string }) & {
        status?: DeliveryRecord['status'] | undefined;
      },
      range: ListRange,
    ): Promise<DeliveryRecord[]> {
      const { status = null } = filter;
      if ('grant_id' in filter) {
        return listOfGrant({ grant_id: filter.grant_id, status, ...range });
      }
      const { endpoint_id } = filter;
      // The index has the order of each status.
      const statuses = status === null ? deliveryStatuses : [status];
      const lists = statuses.map((status) => list({ endpoint_id, status, ...range }));
      return (await Promise.all(lists)).flat().sort(byNewest).slice(0, range.limit);
    },

    /**
     * Begins the timetable of a delivery anew that has ended, or waits for a later try. Null without a body, or
     * without an enabled endpoint.
     */
    async retryDelivery(id: string, now: Milliseconds): Promise<DeliveryRecord | null> {
      const found = await find({ id });
      const told = found && (await findEnabled(found.endpoint_id));
      const [known] = told ? await knownOf([{ told, one: found }], now, toBegin) : [];
      if (found === null || known === undefined) return null;
      const { generation } = known.told.stored;
      const isBegun = await begin({ id, round: found.round, anew: randomUUID(), generation, now });
      return isBegun ? { ...deliveryOf(found), ...BEGUN, due_at: now } : null;
    },

    /**
     * Begins the timetable of deliveries anew that ended as `failed` or `dropped` at `since` or later, and of
     * those that wait for a later try, newest first. No pings, nothing without a body, and nothing without an
     * enabled endpoint.
     *
     * @returns how many, at most `limit`
     */
    async replayDeliveries({
      endpoint_id,
      since,
      now,
      limit,
    }: {
      endpoint_id: string;
      since: Milliseconds;
      now: Milliseconds;
      limit: number;
    }): Promise<number> {
      const told = await findEnabled(endpoint_id);
      if (told === null) return 0;
      const again = { anew: randomUUID(), generation: told.stored.generation, now };
      const of = { endpoint_id, limit };
      let hasBegun = false;
      const go = <T>(on: () => Promise<T>) => (hasBegun ? afterChange(on) : on());
      async function beginAll(some: readonly Asked<ToReplay>[]): Promise<number> {
        const known = await go(() => knownOf<ToReplay>(some, now, toBegin));
        const byRound = Map.groupBy(known, ({ one: { round } }) => round);
        for (const [round, of] of byRound) {
          await go(() => beginSome({ ...again, round, ids: of.map(({ one: { id } }) => id) }));
          hasBegun = true;
        }
        return known.length;
      }
      for (;;) {
        const lists = await Promise.all([
          listUndelivered({ ...of, since, status: 'failed' }),
          listUndelivered({ ...of, since, status: 'dropped' }),
          listWaiting({ ...of, now }),
        ]);
        const newest = lists.flat().sort(byNewest).slice(0, limit);
        const found = newest.map((one) => ({ told, one }));
        let count = 0;
        for (let from = 0; from < found.length; from += BEGUN_AT_ONCE) {
          count += await beginAll(found.slice(from, from + BEGUN_AT_ONCE));
        }
        // Due again by now, whoever did it: of a repetition, the response counts nothing.
        if (count > 0 || found.length < limit) return count;
      }
    },
  };
}

const BEGUN = { status: 'pending', claim: null, tries: 0, ended_at: null } as const;

/** Two processes that claim at once pick a quarter of the same. */
const SHARE = 4;

/** So many block SQLite for about 5 ms. */
const BEGUN_AT_ONCE = 250;

interface Replayed {
  endpoint_id: string;
}

type Named = Pick<Stored, 'id' | 'names_of' | 'names_for' | 'created_at'>;

type ToReplay = Named & Pick<Stored, 'round'>;

interface Asked<One> {
  told: ToldEndpoint;
  one: One;
}

interface Asking<One> {
  refuse(one: One, now: number, answer: Knows): Promise<unknown>;
  tell(): Promise<unknown>;
  read?(one: One): Promise<One>;
}

/** How long a message waits for the events of before it. */
const LATER: Milliseconds = 250;

/** What was answered before that has to be asked again: a user may have disconnected by way of another process. */
const LATE: Milliseconds = 250;

/** `anew`: by a grant of after it happened. */
type Knows = 'yes' | 'anew' | 'no';

const byNewest = (one: { id: string }, other: { id: string }) => (one.id < other.id ? 1 : -1);

const deliveryOf = shownOf(kind);
