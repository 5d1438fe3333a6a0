import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
// A process that uses the MongoDB of the tests has to accept its age.
import './accept-older-server.ts';

/**
 * Arguments of Node for a process that opens a database of the tests.
 *
 * @param folder - this one, in the checkout whose service the process runs: it has a driver of its own
 */
export function nodeArgumentsFor(
  databaseUrl: string | undefined,
  folder = new URL('.', import.meta.url),
): string[] {
  if (!databaseUrl?.startsWith('mongodb')) return [];
  return ['--import', new URL('accept-older-server.ts', folder).href];
}

/** The URL of another database on the server of a URL, with its options. */
export function urlOf(server: string, database: string): string {
  const [, start, rest] = /^([^/]+:\/\/[^/?]*)\/?[^?]*(.*)$/.exec(server) ?? [];
  if (start === undefined) throw new Error('This is no URL of a MongoDB.');
  return `${start}/${database}${rest}`;
}

/** For suites without faults: a busy machine causes no timeout. */
export function patientUrlOf(server: string, database: string): string {
  const patience = '30000';
  return withOptions(urlOf(server, database), {
    serverSelectionTimeoutMS: patience,
    connectTimeoutMS: patience,
    waitQueueTimeoutMS: patience,
  });
}

/** A URL with options added or replaced. */
export function withOptions(url: string, options: Record<string, string>): string {
  const [start = '', query] = url.split('?');
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(options)) all.set(name, value);
  return all.size === 0 ? start : `${start}?${all}`;
}

export function freshName(): string {
  return `latchkey-test-${randomUUID()}`;
}

export async function dropDatabase(server: string, database: string): Promise<void> {
  const client = new MongoClient(server);
  try {
    await client.db(database).dropDatabase();
  } finally {
    await client.close();
  }
}
