import { startAuthlib } from '../../peers/authlib/start.ts';
import type { Databases } from '../../peers/databases.ts';
import { startDjangoOAuthToolkit } from '../../peers/django-oauth-toolkit/start.ts';
import { startFosite } from '../../peers/fosite/start.ts';
import { startKeycloak } from '../../peers/keycloak/start.ts';
import type { Peer } from '../../peers/peer.ts';
import { startSpringAuthorizationServer } from '../../peers/spring-authorization-server/start.ts';
import type { MeasuredServer, RunningServer, StartOptions } from '../contender.ts';
import { startLatchkeyOauth } from '../contenders/latchkey.ts';
import type { Harness } from '../harness.ts';
import { logProgress } from '../progress.ts';
import { startBetterAuth } from './better-auth.ts';
import { asMeasured } from './oauth-peer.ts';
import { startOidcProvider } from './oidc-provider.ts';

export type StoreName = 'SQLite' | 'MongoDB' | 'PostgreSQL';

/** A server on a store that confirms a write once it is on the disk. */
export interface Contestant {
  name: string;
  store: StoreName;
  /** The fraction of the requests that it gets. */
  share: number;
  /** It hashes the client's secret like a password, for each request: more than 32 of them only wait. */
  isSlow?: boolean;
  /** Whether it runs on a JVM, which needs thousands of requests until it is as fast as it gets. */
  isJvm?: boolean;
  /** @throws Unavailable if the machine lacks what it needs */
  start(harness: Harness, databases: Databases): Promise<StartedContestant>;
}

export interface StartedContestant {
  server: MeasuredServer;
  /** Of what runs in processes of its own. */
  versions?: string;
  /** For what the harness does not stop. */
  close?(): Promise<void>;
}

export const fullName = ({ name, store }: Pick<Contestant, 'name' | 'store'>): string =>
  `${name}, ${store}`;

const inNode = (
  name: string,
  store: StoreName,
  start: (options: StartOptions) => Promise<RunningServer>,
  share: number,
): Contestant => ({
  ...{ name, store, share },
  start: async (harness, databases) => ({
    server: await harness.start(`${name}, ${store}`, async (options) => {
      const urls = {
        SQLite: () => undefined,
        MongoDB: () => options.databaseUrl,
        PostgreSQL: async () => (await databases.postgresql()).url,
      };
      return start({ ...options, databaseUrl: await urls[store]() });
    }),
  }),
});

const onPostgresql = (
  name: string,
  start: (databases: Databases) => Promise<Peer>,
  rest: Pick<Contestant, 'share' | 'isSlow' | 'isJvm'>,
): Contestant => ({
  ...{ name, store: 'PostgreSQL', ...rest },
  async start(_harness, databases) {
    logProgress(`Starting ${name} …`);
    const peer = await start(databases);
    return { server: await asMeasured(peer), versions: peer.versions, close: peer.close };
  },
});

/** In the order of the tables. */
export const contestants: readonly Contestant[] = [
  inNode('Latchkey', 'SQLite', startLatchkeyOauth, 1),
  inNode('better-auth', 'SQLite', startBetterAuth, 0.1),
  inNode('Latchkey', 'MongoDB', startLatchkeyOauth, 0.3),
  inNode('oidc-provider', 'MongoDB', startOidcProvider, 0.1),
  inNode('better-auth', 'MongoDB', startBetterAuth, 0.1),
  inNode('Latchkey', 'PostgreSQL', startLatchkeyOauth, 1),
  onPostgresql('Keycloak', startKeycloak, { share: 0.1, isJvm: true }),
  onPostgresql(
    'Spring Authorization Server',
    (databases) => startSpringAuthorizationServer(databases, 'default'),
    { share: 0.01, isJvm: true, isSlow: true },
  ),
  onPostgresql(
    'Spring Authorization Server, secret hashed by bcrypt with strength 4',
    startSpringAuthorizationServer,
    { share: 0.1, isJvm: true },
  ),
  onPostgresql(
    'Django OAuth Toolkit',
    (databases) => startDjangoOAuthToolkit(databases, 'default'),
    { share: 0.01, isSlow: true },
  ),
  onPostgresql('Django OAuth Toolkit, secret hashed by MD5', startDjangoOAuthToolkit, {
    share: 0.1,
  }),
  onPostgresql('Authlib', startAuthlib, { share: 0.1 }),
  onPostgresql('fosite', (databases) => startFosite(databases, 'default'), {
    share: 0.01,
    isSlow: true,
  }),
  onPostgresql('fosite, secret hashed by bcrypt with cost 4', startFosite, { share: 0.2 }),
];
