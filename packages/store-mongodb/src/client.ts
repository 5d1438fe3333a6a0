import type { Timeouts } from '@latchkey/store/server-store';
import { MongoClient, type MongoClientOptions, ReadPreference } from 'mongodb';
import { urlError } from './configuration-error.ts';

const defaultDatabase = 'latchkey';

export interface Client {
  client: MongoClient;
  /** Of the database. */
  name: string;
}

export function createClient(url: string, timeouts: Timeouts): Client {
  try {
    return clientOf(url, timeouts);
  } catch {
    // Not even as a cause: the driver's error may have the address.
    throw urlError(url, (other) => refusalOf(other, timeouts));
  }
}

const clientOf = (url: string, timeouts: Timeouts): Client => ({
  client: new MongoClient(url, clientOptions(url, timeouts)),
  name: databaseOf(url) ?? defaultDatabase,
});

function refusalOf(url: string, timeouts: Timeouts): string | null {
  try {
    clientOf(url, timeouts);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function databaseName({ options: { hosts } }: MongoClient, database: string): string {
  return `mongodb://${hosts.map(String).sort().join()}/${database}`;
}

function clientOptions(url: string, timeouts: Timeouts): MongoClientOptions {
  const given = optionsOf(url);
  const unlessGiven = (name: string, value: number | string) =>
    given.has(name.toLowerCase()) ? {} : { [name]: value };
  return {
    ...unlessGiven('appName', 'latchkey'),
    ...unlessGiven('serverSelectionTimeoutMS', timeouts.connect),
    ...unlessGiven('connectTimeoutMS', timeouts.connect),
    ...unlessGiven('waitQueueTimeoutMS', timeouts.connect),
    // Longer than the database's own limit, so that only a silent connection is closed.
    ...unlessGiven('socketTimeoutMS', 2 * timeouts.operation),
    // Gives up a silent primary after 3.5 s instead of 13 s: see decision 37. The driver (7.8) may
    // wait forever for a check on a broken connection, but not within minHeartbeatFrequencyMS.
    ...unlessGiven('heartbeatFrequencyMS', 500),
    ...unlessGiven('minHeartbeatFrequencyMS', 1_000),
    // Set for the client too, since a URL that prefers secondaries would make it wait for one.
    readPreference: ReadPreference.primary,
    // `values.ts` depends on these. An accidental `undefined` must not drop out of a filter.
    promoteValues: true,
    promoteLongs: true,
    promoteBuffers: false,
    useBigInt64: false,
    ignoreUndefined: false,
  };
}

function optionsOf(url: string): Set<string> {
  const start = url.indexOf('?');
  const query = start < 0 ? '' : url.slice(start + 1);
  return new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
}

function databaseOf(url: string): string | undefined {
  const path = /^[^/]+:\/\/[^/?]*\/([^?]*)/.exec(url)?.[1];
  return path ? decodeURIComponent(path) : undefined;
}
