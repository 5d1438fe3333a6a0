import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BetterAuthOptions, DBAdapter } from 'better-auth';
import { mongodbAdapter } from 'better-auth/adapters/mongodb';
import { MongoClient } from 'mongodb';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { listen } from '../listen.ts';
import { packageVersions } from '../package-versions.ts';
import { createBetterAuth, inMemory } from '../peers/better-auth.ts';
import type { Databases } from '../peers/databases.ts';
import type { Peer } from '../peers/peer.ts';

/** `better-auth`, with the session of one user. */
async function start(database: BetterAuthOptions['database']): Promise<Peer> {
  const server = await listen();
  const { url, close } = server;
  const { listener, application, other, cookies } = await createBetterAuth({ url, database });
  server.handle(listener);
  return {
    versions: await packageVersions(['better-auth', '@better-auth/oauth-provider']),
    authorization: `${url}/api/auth/oauth2/authorize`,
    token: `${url}/api/auth/oauth2/token`,
    resource: `${url}/api/auth/oauth2/userinfo`,
    scope: 'openid',
    application,
    other,
    login(authorizationUrl, browser) {
      for (const line of cookies) browser.setCookie(url, line);
      return browser.open(authorizationUrl);
    },
    close,
  };
}

/** Delays the adapter, also within a transaction. */
function delayed(adapter: DBAdapter, latency: number): DBAdapter {
  return withLatency(
    {
      ...adapter,
      transaction: (steps) =>
        adapter.transaction((transaction) => steps(withLatency(transaction, latency))),
    },
    latency,
  );
}

/** @param latency - in milliseconds, for each call of the store */
export const startBetterAuth = (latency: number): Promise<Peer> =>
  start((options: BetterAuthOptions) => delayed(inMemory(options), latency));

export async function startBetterAuthOnMongodb(databases: Databases): Promise<Peer> {
  const database = await databases.mongodb();
  const client = new MongoClient(database.url);
  const peer = await start(mongodbAdapter(client.db(), { client }));
  return {
    ...peer,
    versions: `${peer.versions}, ${database.description}`,
    async close() {
      await peer.close();
      await client.close();
      await database.drop();
    },
  };
}

export async function startBetterAuthOnSqlite(): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-better-auth-'));
  const database = new DatabaseSync(join(folder, 'better-auth.db'));
  const peer = await start(database);
  return {
    ...peer,
    versions: `${peer.versions}, SQLite ${process.versions.sqlite}`,
    async close() {
      await peer.close();
      database.close();
      await rm(folder, { recursive: true });
    },
  };
}
