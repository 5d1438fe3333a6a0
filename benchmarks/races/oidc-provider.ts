import { MongoClient } from 'mongodb';
import type { Adapter } from 'oidc-provider';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { listen } from '../listen.ts';
import { packageVersions } from '../package-versions.ts';
import type { Databases } from '../peers/databases.ts';
import { MongodbAdapter } from '../peers/mongodb-adapter.ts';
import { registration } from '../peers/oauth-client.ts';
import { createOidcProvider, MapAdapter } from '../peers/oidc-provider.ts';
import type { Peer } from '../peers/peer.ts';

/** `oidc-provider`. Its users log in and consent on its development pages. */
async function start(adapter: (model: string) => Adapter): Promise<Peer> {
  const server = await listen();
  const application = registration('application');
  const other = registration('other');
  const { url, close } = server;
  const provider = createOidcProvider({ url, clients: [application, other], adapter });
  server.handle(provider.callback());
  return {
    versions: await packageVersions(['oidc-provider']),
    authorization: `${url}/auth`,
    token: `${url}/token`,
    resource: `${url}/me`,
    scope: 'openid',
    application,
    other,
    // A new browser for each code: codes of one session would share a grant.
    async login(url, browser) {
      await browser.open(url);
      await browser.submit({ login: 'ada', password: 'any' });
      return browser.submit();
    },
    close,
  };
}

/** @param latency - in milliseconds, for each call of the store */
export const startOidcProvider = (latency: number): Promise<Peer> =>
  start(() => withLatency(new MapAdapter(), latency));

export async function startOidcProviderOnMongodb(databases: Databases): Promise<Peer> {
  const database = await databases.mongodb();
  const client = new MongoClient(database.url);
  await MongodbAdapter.createIndexes(client.db());
  const peer = await start((model) => new MongodbAdapter(client.db(), model));
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
