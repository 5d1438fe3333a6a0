import { startAuthlib } from '../peers/authlib/start.ts';
import type { Databases } from '../peers/databases.ts';
import { startDjangoOAuthToolkit } from '../peers/django-oauth-toolkit/start.ts';
import { startFosite } from '../peers/fosite/start.ts';
import { startGoOAuth2 } from '../peers/go-oauth2/start.ts';
import { startKeycloak } from '../peers/keycloak/start.ts';
import type { Peer } from '../peers/peer.ts';
import { startSpringAuthorizationServer } from '../peers/spring-authorization-server/start.ts';
import {
  startBetterAuth,
  startBetterAuthOnMongodb,
  startBetterAuthOnSqlite,
} from './better-auth.ts';
import { asContender, type Contender } from './contender.ts';
import {
  startLatchkeyOnMongodb,
  startLatchkeyOnPostgresql,
  startLatchkeyOnSqlite,
} from './latchkey.ts';
import { startOidcProvider, startOidcProviderOnMongodb } from './oidc-provider.ts';

/** A server on a store, as it is measured. */
export interface Server {
  server: string;
  store: string;
  /** @throws Unavailable if the machine lacks what it needs */
  start(databases: Databases): Promise<Contender>;
}

const peer = (
  server: string,
  store: string,
  start: (databases: Databases) => Promise<Peer>,
): Server => ({
  server,
  store,
  start: async (databases) => asContender(await start(databases)),
});

/** In the order of the tables. */
export const servers: readonly Server[] = [
  { server: 'Latchkey', store: 'SQLite', start: () => startLatchkeyOnSqlite(0) },
  { server: 'Latchkey', store: 'SQLite + 2 ms', start: () => startLatchkeyOnSqlite(2) },
  { server: 'Latchkey', store: 'MongoDB', start: (all) => startLatchkeyOnMongodb(all, 0) },
  { server: 'Latchkey', store: 'MongoDB + 2 ms', start: (all) => startLatchkeyOnMongodb(all, 2) },
  { server: 'Latchkey', store: 'PostgreSQL', start: (all) => startLatchkeyOnPostgresql(all, 0) },
  {
    server: 'Latchkey',
    store: 'PostgreSQL + 2 ms',
    start: (all) => startLatchkeyOnPostgresql(all, 2),
  },
  peer('oidc-provider', 'memory', () => startOidcProvider(0)),
  peer('oidc-provider', 'memory + 2 ms', () => startOidcProvider(2)),
  peer('oidc-provider', 'MongoDB', startOidcProviderOnMongodb),
  peer('better-auth', 'memory', () => startBetterAuth(0)),
  peer('better-auth', 'memory + 2 ms', () => startBetterAuth(2)),
  peer('better-auth', 'SQLite', startBetterAuthOnSqlite),
  peer('better-auth', 'MongoDB', startBetterAuthOnMongodb),
  peer('Django OAuth Toolkit', 'PostgreSQL', startDjangoOAuthToolkit),
  peer('Authlib', 'PostgreSQL', startAuthlib),
  peer('fosite', 'PostgreSQL', startFosite),
  peer('go-oauth2', 'a file', startGoOAuth2),
  peer('Spring Authorization Server', 'PostgreSQL', startSpringAuthorizationServer),
  peer('Keycloak', 'PostgreSQL', startKeycloak),
];

/** The name of a server for `--only`. */
export const nameOf = ({ server }: Server): string => server.toLowerCase().replaceAll(' ', '-');
