import { randomInt } from 'node:crypto';
import { type Moment, type RequestScope, requestScope } from '@latchkey/domain/request-scope';
import {
  type ClientSession,
  type Collection,
  type MongoClient,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  type Timestamp,
} from 'mongodb';
import type { Concerns } from './concerns.ts';

export type DecisiveOptions = Concerns['decisive'] & { session?: ClientSession };

export interface FenceDocument {
  _id: number;
  writes: number;
}

/** Orders the reads and the durable writes of requests: see decision 54. */
export interface Order {
  /** @param moments - of all who asked for this read */
  read<T>(moments: readonly Moment[], read: (options: DecisiveOptions) => Promise<T>): Promise<T>;
  /** @param send - returns null if it matched nothing, and undefined if that is not known */
  write<T>(
    scope: RequestScope | undefined,
    send: (options: Concerns['durable'] & { session?: ClientSession }) => Promise<T>,
  ): Promise<T>;
}

export function unordered({ durable, decisive }: Concerns): Order {
  return { read: (_moments, read) => read(decisive), write: (_scope, send) => send(durable) };
}

/** The moment of the request, or one of its own outside of requests. */
export function thisMoment(): Moment {
  return requestScope()?.moment ?? {};
}

// A process writes its own document: with one for all, fences of several processes conflict. Of 10
// processes, two have the same one in 1 % of all cases, and the collection stays small.
const FENCES = 4096;

/**
 * A read sees every write that was acknowledged before it was asked for. It follows a fence, which
 * is a durable write: the reads of one tick share it, and the reads of a request use it again.
 */
export function fencedOrder(
  client: MongoClient,
  fences: Collection<FenceDocument>,
  { durable, decisive, listing }: Concerns,
): Order {
  const _id = randomInt(FENCES);
  const causally = { causalConsistency: true };
  const times = new WeakMap<Moment, Timestamp>();

  function raise(moment: Moment, time: Timestamp): void {
    if (!times.get(moment)?.greaterThan(time)) times.set(moment, time);
  }

  /** Undefined if one of them has seen nothing yet. */
  function latestOf(moments: readonly Moment[]): Timestamp | undefined {
    let latest: Timestamp | undefined;
    for (const moment of moments) {
      const time = times.get(moment);
      if (time === undefined) return undefined;
      if (!latest?.greaterThan(time)) latest = time;
    }
    return latest;
  }

  const writeFence = () =>
    client.withSession(causally, async (session) => {
      try {
        // Even a deposed primary acknowledges a write without a change. Retries of `updateOne` are
        // written to the oplog too.
        const change = { $inc: { writes: 1 } };
        await fences.updateMany({ _id }, change, { ...durable, upsert: true, session });
        return session.operationTime;
      } catch (error) {
        if (mayBeRead(error)) return undefined;
        throw error;
      }
    });

  let fence: Promise<Timestamp | undefined> | undefined;
  function shareFence(): Promise<Timestamp | undefined> {
    if (fence === undefined) {
      fence = writeFence();
      // Before the next event, so every read that shares the fence was asked for before its write.
      process.nextTick(() => {
        fence = undefined;
      });
    }
    return fence;
  }

  return {
    async read(moments, read) {
      const time = latestOf(moments) ?? (await shareFence());
      if (time === undefined) return read(decisive);
      return client.withSession(causally, async (session) => {
        session.advanceOperationTime(time);
        const found = await read({ ...listing, session });
        // The later time of this read: after a failover, no later read goes back behind it.
        for (const moment of moments) raise(moment, session.operationTime ?? time);
        return found;
      });
    },

    async write(scope, send) {
      if (scope === undefined) return send(durable);
      const { moment } = scope;
      let time: Timestamp | undefined;
      try {
        return await client.withSession(causally, async (session) => {
          const result = await send({ ...durable, session });
          if (result !== null && result !== undefined) time = session.operationTime;
          return result;
        });
      } finally {
        if (time !== undefined) raise(moment, time);
        // What stood in its way may be newer than all that the request has seen.
        else scope.moment = {};
      }
    },
  };
}

const timeouts = new Set<unknown>([
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
]);

/** A linearizable read may succeed during an election, or while a full disk blocks writes. */
function mayBeRead(error: unknown): boolean {
  if (error instanceof MongoNetworkTimeoutError) return false;
  if (error instanceof MongoServerError) return !timeouts.has(error.code);
  return error instanceof MongoNetworkError;
}
