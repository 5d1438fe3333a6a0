import {
  type Login,
  measureRow,
  type RowResult,
  rows,
  run,
  type Server,
} from '../../packages/race/src/index.ts';
import { REDIRECT_URI, type Registration } from '../peers/oauth-client.ts';

/** A running server that is raced and abused. */
export interface Contender {
  /** Measures rows of `oauth-race` by their ids. */
  measure(ids: readonly string[]): Promise<RowResult[]>;
  close(): Promise<void>;
}

/** For every server the same. Other rows than races take 10 codes. */
export const LOAD = { codes: 100, requests: 8, pause: 0, seed: 1 };

/** Measures a server that is no OAuth server. */
export async function measureServer(server: Server, ids: readonly string[]): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of rows.filter(({ id }) => ids.includes(id))) {
    results.push(await measureRow(row, server, LOAD));
  }
  return results;
}

/**
 * Measures an OAuth server with two confidential clients, as the command would.
 *
 * @param server.login - the user's browser
 */
export async function measureOAuth(
  server: {
    authorization: string;
    token: string;
    userinfo: string;
    application: Registration;
    other: Registration;
    login: Login;
  },
  ids: readonly string[],
): Promise<RowResult[]> {
  const clientOf = ({ client_id, client_secret }: Registration) => ({
    id: client_id,
    secret: client_secret,
  });
  const report = await run({
    authorizationEndpoint: server.authorization,
    tokenEndpoints: [server.token],
    resource: server.userinfo,
    client: clientOf(server.application),
    otherClient: clientOf(server.other),
    clientAuth: 'basic',
    redirectUri: REDIRECT_URI,
    scope: 'openid',
    login: server.login,
    rows: ids,
    ...LOAD,
  });
  return report.rows;
}
