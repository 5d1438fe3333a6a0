import { MongoClient, type MongoClientOptions, ReadPreference } from 'mongodb';
import { faultOfUrl } from './faults.ts';

/** How long to wait for the database, in milliseconds. */
export interface Patience {
  /** To find a primary, to connect to it, and to get a connection out of the pool. */
  reach: number;
  /** For a read, and for a write to be on the disks of a majority. The database itself keeps it. */
  operation: number;
  /** To find out what became of a write whose answer got lost. */
  outcome: number;
}

export const defaultPatience: Patience = {
  // A request is not kept waiting for a database that is down; a client that can wait retries.
  reach: 3_000,
  operation: 5_000,
  // A replica set that loses its primary elects another within about 10 s (its election timeout).
  outcome: 10_000,
};

const defaultDatabase = 'latchkey';

/** The driver's client for a DATABASE_URL, not connected yet, and the database's name. */
export function clientFor(url: string, patience: Patience): { client: MongoClient; name: string } {
  let client: MongoClient;
  try {
    client = new MongoClient(url, clientOptions(url, patience));
  } catch (error) {
    throw faultOfUrl(url, error);
  }
  return { client, name: databaseOf(url) ?? defaultDatabase };
}

function clientOptions(url: string, patience: Patience): MongoClientOptions {
  const given = optionsOf(url);
  const unlessGiven = (name: string, value: number | string) =>
    given.has(name.toLowerCase()) ? {} : { [name]: value };
  return {
    ...unlessGiven('appName', 'latchkey'),
    ...unlessGiven('serverSelectionTimeoutMS', patience.reach),
    ...unlessGiven('connectTimeoutMS', patience.reach),
    ...unlessGiven('waitQueueTimeoutMS', patience.reach),
    // Later than the database's own limit on the operation, so that its word comes first, and the
    // connection is given up only where there is no word at all.
    ...unlessGiven('socketTimeoutMS', 2 * patience.operation),
    // Where all connections break at once, as they do when the server dies, the driver (7.8) may ask
    // on one of them, which it takes for whole, where the server is, and wait for ever: the process
    // would not find it again. It asks in that moment only if it has not looked for the minimum
    // time, so it has to look more often than that by itself.
    ...unlessGiven('heartbeatFrequencyMS', 500),
    ...unlessGiven('minHeartbeatFrequencyMS', 1_000),
    // A secondary is behind, and what it answers may never come to be. To be set for the client: a
    // URL that prefers secondaries would make it wait for one before anything.
    readPreference: ReadPreference.primary,
    // What `documents.ts` reads and writes depends on these; an option in the URL must not turn
    // them. An `undefined` that slips in has to be seen, not to drop out of a filter.
    promoteValues: true,
    promoteLongs: true,
    promoteBuffers: false,
    useBigInt64: false,
    ignoreUndefined: false,
  };
}

/** The options in a URL, in lower case: the driver does not mind the case either. */
function optionsOf(url: string): Set<string> {
  const start = url.indexOf('?');
  const query = start < 0 ? '' : url.slice(start + 1);
  return new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
}

/** The path of the URL. WHATWG's URL does not take several hosts, so it is cut out by hand. */
function databaseOf(url: string): string | undefined {
  const path = /^[^/]+:\/\/[^/?]*\/([^?]*)/.exec(url)?.[1];
  return path ? decodeURIComponent(path) : undefined;
}
