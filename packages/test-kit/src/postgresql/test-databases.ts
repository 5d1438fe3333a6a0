import { randomUUID } from 'node:crypto';
import { query } from './query.ts';

/** The URL of another database on the server of a URL, with its options. */
export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Creates an empty database on a server, and returns its URL. */
export async function createDatabase(server: string): Promise<string> {
  const name = `latchkey-test-${randomUUID()}`;
  // A copy of the one that nobody is connected to.
  await query(server, `CREATE DATABASE "${name}" TEMPLATE template0`);
  return urlOf(server, name);
}

/** Drops the database of a URL, whoever is connected to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await query(urlOf(url, 'postgres'), `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
}
