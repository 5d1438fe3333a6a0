import { type Db, type Document, MongoServerError } from 'mongodb';
import { PermanentFault } from './faults.ts';
import type { Patience } from './settings.ts';

/** What the database is, from its own mouth. */
export interface ServerFacts {
  /** A member of a replica set, or a sharded cluster, which is made of them. */
  replicated: boolean;
  /** Whether it takes reads with the read concern `linearizable`. */
  linearizable: boolean;
}

/** Of MongoDB 7.0, the oldest version that is still maintained and that this is written for. */
const oldestWireVersion = 21;

/** The answers to a read concern that a server does not have. */
const notImplemented = new Set([
  2, // BadValue
  9, // FailedToParse
  72, // InvalidOptions
  115, // CommandNotSupported
  123, // NotAReplicaSet
  238, // NotImplemented
]);

/**
 * @throws PermanentFault where the server is too old
 */
export async function askServer(database: Db, patience: Patience): Promise<ServerFacts> {
  const hello = await database.command({ hello: 1 });
  if (!(hello.maxWireVersion >= oldestWireVersion)) {
    const { version } = await database.command({ buildInfo: 1 });
    throw new PermanentFault(
      `the server is MongoDB ${version}, and Latchkey needs 7.0 or later: upgrade it`,
    );
  }
  const replicated = typeof hello.setName === 'string' || isMongos(hello);
  return { replicated, linearizable: replicated && (await hasLinearizable(database, patience)) };
}

function isMongos(hello: Document): boolean {
  return hello.msg === 'isdbgrid';
}

/**
 * Every replica set of MongoDB itself has it. What only speaks MongoDB's protocol, and says it is a
 * replica set, may not.
 */
async function hasLinearizable(database: Db, patience: Patience): Promise<boolean> {
  try {
    await database.collection<{ _id: string }>('grants').findOne(
      { _id: '' },
      {
        readConcern: { level: 'linearizable' },
        maxTimeMS: patience.operation,
      },
    );
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && notImplemented.has(Number(error.code))) return false;
    throw error;
  }
}
