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

export type DecisiveRead = <T>(read: (options: DecisiveOptions) => Promise<T>) => Promise<T>;

export interface FenceDocument {
  _id: 'fence';
  writes: number;
}

/**
 * Reads that see everything which was acknowledged before they were asked for. Those asked for in
 * one tick of the event loop share a fence: a durable write, after whose time each of them reads
 * what a majority has. See decision 13.
 */
export function fencedReads(
  client: MongoClient,
  fences: Collection<FenceDocument>,
  { durable, decisive, listing }: Concerns,
): DecisiveRead {
  /** @returns undefined if the write was refused */
  async function writeFence(): Promise<Timestamp | undefined> {
    const session = client.startSession({ causalConsistency: true });
    try {
      // A write that changed nothing would not be a fence: even a deposed primary acknowledges it.
      // `updateMany`, since the driver's retries of `updateOne` are written to the oplog too.
      const change = { $inc: { writes: 1 } };
      await fences.updateMany({ _id: 'fence' }, change, { ...durable, upsert: true, session });
      return session.operationTime;
    } catch (error) {
      if (mayBeRead(error)) return undefined;
      throw error;
    } finally {
      await session.endSession();
    }
  }

  let fence: Promise<Timestamp | undefined> | undefined;
  function shareFence(): Promise<Timestamp | undefined> {
    if (fence === undefined) {
      fence = writeFence();
      // Before anything more is received, so whoever shares the fence asked before it was sent.
      process.nextTick(() => {
        fence = undefined;
      });
    }
    return fence;
  }

  return async (read) => {
    const time = await shareFence();
    if (time === undefined) return read(decisive);
    const session = client.startSession({ causalConsistency: true });
    session.advanceOperationTime(time);
    // The time of an error may be that of a write that is rolled back, and a retry would wait for it.
    session.advanceOperationTime = () => undefined;
    try {
      return await read({ ...listing, session });
    } finally {
      await session.endSession();
    }
  };
}

const timeouts = new Set<unknown>([
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
]);

/** If a linearizable read may succeed: during an election, or while a full disk blocks writes. */
function mayBeRead(error: unknown): boolean {
  if (error instanceof MongoNetworkTimeoutError) return false;
  if (error instanceof MongoServerError) return !timeouts.has(error.code);
  return error instanceof MongoNetworkError;
}
