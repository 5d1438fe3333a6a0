import {
  measureRow,
  type RowResult,
  rows,
  run,
  type Server,
} from '../../packages/race/src/index.ts';
import { REDIRECT_URI, type Registration } from '../peers/oauth-client.ts';
import type { Peer } from '../peers/peer.ts';

/** A running server that is raced and abused. */
export interface Contender {
  /** In one line for readers: what was measured. */
  versions: string;
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

/** Measures an OAuth server of another project as the command would. */
async function measureOAuth(peer: Peer, ids: readonly string[]): Promise<RowResult[]> {
  const clientOf = ({ client_id, client_secret }: Registration) => ({
    id: client_id,
    secret: client_secret,
  });
  const report = await run({
    authorizationEndpoint: peer.authorization,
    tokenEndpoints: [peer.token],
    resource: peer.resource,
    client: clientOf(peer.application),
    otherClient: clientOf(peer.other),
    clientAuth: 'basic',
    redirectUri: REDIRECT_URI,
    scope: peer.scope,
    login: peer.login,
    rows: ids,
    // On a busy machine, a login by a slow hash takes its time.
    timeout: 60_000,
    ...LOAD,
  });
  return report.rows;
}

export const asContender = (peer: Peer): Contender => ({
  versions: peer.versions,
  measure: (ids) => measureOAuth(peer, ids),
  close: peer.close,
});
