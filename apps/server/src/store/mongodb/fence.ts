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
 * A read sees every write that was acknowledged before it began. It follows a fence, which is a
 * durable write that the reads of one tick share: see decision 13.
 */
export function fencedReads(
  client: MongoClient,
  fences: Collection<FenceDocument>,
  { durable, decisive, listing }: Concerns,
): DecisiveRead {
  async function writeFence(): Promise<Timestamp | undefined> {
    const session = client.startSession({ causalConsistency: true });
    try {
      // Even a deposed primary acknowledges a write without a change. Retries of `updateOne` are
      // written to the oplog too.
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
  return async (read) => {
    if (fence === undefined) {
      fence = writeFence();
      // Before the next event, so every read that shares the fence began before its write.
      process.nextTick(() => {
        fence = undefined;
      });
    }
    const time = await fence;
    if (time === undefined) return read(decisive);
    const session = client.startSession({ causalConsistency: true });
    session.advanceOperationTime(time);
    // An error may have the time of a write that is rolled back, which a retry would wait for.
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

/** A linearizable read may succeed during an election, or while a full disk blocks writes. */
function mayBeRead(error: unknown): boolean {
  if (error instanceof MongoNetworkTimeoutError) return false;
  if (error instanceof MongoServerError) return !timeouts.has(error.code);
  return error instanceof MongoNetworkError;
}
