import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { StoreHarness, TestDatabase } from '../suite-harness.ts';
import { openMongoStore } from './mongo-store.ts';

/** The URL of another database on the server of a URL, keeping its options. */
export function urlOf(server: string, database: string): string {
  const [, start, rest] = /^([^/]+:\/\/[^/?]*)\/?[^?]*(.*)$/.exec(server) ?? [];
  if (start === undefined) throw new Error('This is no URL of a MongoDB.');
  return `${start}/${database}${rest}`;
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

/** Makes databases for the suite on a server. */
export function mongoHarness(server: string): StoreHarness {
  return {
    async fresh(): Promise<TestDatabase> {
      const name = freshName();
      const url = urlOf(server, name);
      const open = () => openMongoStore({ url, clock: Date.now });
      return {
        url,
        open,
        async waitForSweep(grant_id) {
          const store = await open();
          while ((await store.findCode(grant_id)) !== null) await sleep(500);
          await store.close();
        },
        remove: () => dropDatabase(server, name),
      };
    },

    // The database looks for what has expired once a minute.
    sweepTimeout: 150_000,
  };
}
