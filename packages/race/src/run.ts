import { randomInt } from 'node:crypto';
import { Hosts } from './hosts.ts';
import { type Login, limited } from './login/login.ts';
import { type Load, measureRow, type RowResult, skipped } from './measure.ts';
import { endpointOf, type Metadata, readMetadata } from './metadata.ts';
import { type Client, type ClientAuth, type OAuthSettings, oauthServer } from './oauth-server.ts';
import { exchange } from './rows/exchange.ts';
import type { Row } from './rows/row.ts';
import { rows as allRows } from './rows/rows.ts';
import { Secrets } from './secrets.ts';
import type { Check, Server } from './server.ts';
import { urlOf, WrongOption } from './wrong-option.ts';

/** What is to be measured, and how. */
export interface RunOptions {
  /** Whose metadata has the addresses. The endpoints below win over it. */
  issuer?: string | undefined;
  authorizationEndpoint?: string | undefined;
  /** Several for `race-routes`. */
  tokenEndpoints?: readonly string[] | undefined;
  introspectionEndpoint?: string | undefined;
  revocationEndpoint?: string | undefined;
  /** Responds to a GET with a token by 2xx if it passes, and by 400, 401 or 403 if it doesn't. */
  resource?: string | undefined;
  client: { id: string; secret?: string };
  otherClient?: { id: string; secret?: string } | undefined;
  /** Default: by the metadata, and by whether the client has a secret. */
  clientAuth?: ClientAuth | undefined;
  /** Default: `http://127.0.0.1:8976/callback`. */
  redirectUri?: string | undefined;
  scope?: string | undefined;
  login: Login;
  /** Names of hosts other than the loopback. */
  hosts?: readonly string[] | undefined;
  /** The ids of rows. `exchange` is always measured. Default: all. */
  rows?: readonly string[] | undefined;
  /** Of a race, from 1 to 100, which is the default. Other rows take up to 10. */
  codes?: number | undefined;
  /** At once, from 2 to 8, which is the default. */
  requests?: number | undefined;
  /** Milliseconds between two codes. Default: 10; with `hosts` 250, and at least 100. */
  pause?: number | undefined;
  /** Milliseconds for a response. Default: 10 000. */
  timeout?: number | undefined;
  /** Milliseconds for a login. Default: six times `timeout`. */
  loginTimeout?: number | undefined;
  /** Repeats the order and the offsets of an earlier run. */
  seed?: number | undefined;
  /** Is called before a row and after each of its codes. */
  onProgress?: ((row: string, done: number, all: number) => void) | undefined;
}

/** What a run has measured. It has no secret, code or token. */
export interface Report {
  tool: string;
  node: string;
  date: string;
  /** The address of the issuer, or of the token endpoint. */
  server: string;
  load: Load;
  rows: RowResult[];
}

declare const PACKAGE_VERSION: string | undefined;
/** Of this package. */
export const version = typeof PACKAGE_VERSION === 'undefined' ? 'source' : PACKAGE_VERSION;

export const DEFAULT_REDIRECT_URI = 'http://127.0.0.1:8976/callback';

/**
 * Measures a server row by row. A server that responds wrongly, late or not at all ends in a row.
 *
 * @throws WrongOption if the options can't be right, or name a host that they have to allow
 */
export async function run(options: RunOptions): Promise<Report> {
  const chosen = chooseRows(options.rows);
  const load = loadOf(options);
  const secrets = new Secrets();
  const server = await prepare(options, secrets).catch((error) => {
    if (error instanceof WrongOption) throw error;
    return error as Error;
  });
  const results = await measure(chosen, server, load, options.onProgress);
  return {
    tool: `oauth-race ${version}`,
    node: process.versions.node,
    date: new Date().toISOString(),
    server: nameOf(options.issuer ?? options.tokenEndpoints?.[0] ?? ''),
    load,
    rows: results.map((result) => ({
      ...result,
      reason: result.reason && secrets.clean(result.reason),
    })),
  };
}

/** An address without what could be secret in it. */
function nameOf(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

async function measure(
  chosen: readonly Row[],
  server: Server | Error,
  load: Load,
  onProgress: RunOptions['onProgress'],
): Promise<RowResult[]> {
  if (server instanceof Error) {
    const failed = { ...skipped(exchange, server.message), verdict: 'error' as const };
    return [failed, ...withoutExchange(chosen)];
  }
  const measureOne = (row: Row, of: Server, size: Load) => {
    onProgress?.(row.id, 0, 0);
    return measureRow(row, of, size, (done, all) => onProgress?.(row.id, done, all));
  };
  const first = await measureOne(exchange, server, { ...load, codes: 1 });
  if (first.verdict === 'error') return [first, ...withoutExchange(chosen)];
  // A note says that the published checks are not for this client.
  const isUsable = ({ isPublished }: Check) => first.verdict === 'pass' || !isPublished;
  const checked = { ...server, checks: server.checks.filter(isUsable) };
  const results = [first];
  for (const row of chosen) results.push(await measureOne(row, checked, load));
  return results;
}

const withoutExchange = (rows: readonly Row[]) =>
  rows.map((row) => skipped(row, 'The exchange of a code does not work.'));

function chooseRows(ids: RunOptions['rows']): Row[] {
  const others = allRows.filter((row) => row !== exchange);
  if (ids === undefined) return others;
  const unknown = ids.find((id) => !allRows.some((row) => row.id === id));
  if (unknown === undefined) return others.filter(({ id }) => ids.includes(id));
  throw new WrongOption(
    `There is no row ${unknown}. The rows are: ${allRows.map(({ id }) => id).join(', ')}.`,
  );
}

function loadOf(options: RunOptions): Load {
  const isElsewhere = (options.hosts ?? []).length > 0;
  return {
    codes: within('--codes', options.codes ?? 100, 1, 100),
    requests: within('--requests', options.requests ?? 8, 2, 8),
    pause: within(
      '--pause',
      options.pause ?? (isElsewhere ? 250 : 10),
      isElsewhere ? 100 : 0,
      60_000,
    ),
    seed: within('--seed', options.seed ?? randomInt(2 ** 31), 0, 2 ** 31 - 1),
  };
}

/** @throws WrongOption */
function within(option: string, value: number, lowest: number, highest: number): number {
  if (Number.isInteger(value) && value >= lowest && value <= highest) return value;
  throw new WrongOption(`${option} has to be a whole number from ${lowest} to ${highest}.`);
}

/** Finds the addresses, and checks that all of them may be called. */
async function prepare(options: RunOptions, secrets: Secrets): Promise<Server> {
  const timeout = within('--timeout', options.timeout ?? 10_000, 1, 600_000);
  // More would overflow the timer, and end every login at once.
  const loginTimeout = within('loginTimeout', options.loginTimeout ?? 6 * timeout, 1, 2 ** 31 - 1);
  const hosts = new Hosts(options.hosts ?? []);
  const { issuer, client, otherClient, redirectUri = DEFAULT_REDIRECT_URI, scope } = options;
  urlOf(redirectUri, '--redirect-uri');

  const given = {
    authorization: address(options.authorizationEndpoint, '--authorization-endpoint', hosts),
    tokens: (options.tokenEndpoints ?? []).map((url) => addressOf(url, '--token-endpoint', hosts)),
    introspection: address(options.introspectionEndpoint, '--introspection-endpoint', hosts),
    revocation: address(options.revocationEndpoint, '--revocation-endpoint', hosts),
    resource: address(options.resource, '--resource', hosts),
  };
  if (issuer === undefined && (given.authorization === null || given.tokens.length === 0)) {
    throw new WrongOption('Give --issuer, or --authorization-endpoint and --token-endpoint.');
  }
  if (client.secret === undefined && (options.clientAuth ?? 'none') !== 'none') {
    throw new WrongOption(
      `--client-auth ${options.clientAuth} needs a secret in OAUTH_RACE_SECRET.`,
    );
  }

  let metadata: Metadata = {};
  if (issuer !== undefined) {
    addressOf(issuer, '--issuer', hosts);
    metadata = await readMetadata(issuer, timeout);
  }
  const published = (name: Parameters<typeof endpointOf>[1]) => {
    const url = endpointOf(metadata, name);
    if (url !== null) hosts.check(url, `${name} of the metadata`);
    return url;
  };
  const authorizationEndpoint = given.authorization ?? published('authorization_endpoint');
  const tokenEndpoints =
    given.tokens.length > 0 ? given.tokens : [published('token_endpoint') ?? []].flat();
  if (authorizationEndpoint === null || tokenEndpoints.length === 0) {
    throw new Error(
      'The metadata lacks an endpoint. Give --authorization-endpoint and --token-endpoint.',
    );
  }
  const hasUserinfo = scope?.split(' ').includes('openid');
  // `none` is said of the own client: the other one may have a secret.
  const otherAuth = options.clientAuth === 'none' ? undefined : options.clientAuth;
  const settings: OAuthSettings = {
    authorizationEndpoint,
    tokenEndpoints,
    introspectionEndpoint: given.introspection ?? published('introspection_endpoint'),
    isIntrospectionPublished: given.introspection === null,
    revocationEndpoint: given.revocation ?? published('revocation_endpoint'),
    resource: given.resource ?? (hasUserinfo ? published('userinfo_endpoint') : null),
    client: withAuth(client, options.clientAuth ?? authOf(metadata)),
    otherClient: otherClient ? withAuth(otherClient, otherAuth ?? authOf(metadata)) : null,
    redirectUri,
    scope: scope ?? null,
    login: limited(options.login, loginTimeout),
    hosts,
    timeout,
    secrets,
  };
  return oauthServer(settings);
}

/** A client without a secret can't authenticate. */
const withAuth = ({ id, secret }: RunOptions['client'], auth: ClientAuth): Client =>
  secret === undefined ? { id, secret: null, auth: 'none' } : { id, secret, auth };

/** `client_secret_basic` is the default of RFC 8414. */
function authOf({ token_endpoint_auth_methods_supported: methods }: Metadata): ClientAuth {
  if (!Array.isArray(methods) || methods.includes('client_secret_basic')) return 'basic';
  return methods.includes('client_secret_post') ? 'post' : 'basic';
}

const address = (text: string | undefined, option: string, hosts: Hosts) =>
  text === undefined ? null : addressOf(text, option, hosts);

/** @throws WrongOption if it is no URL, or of a host that was not named */
function addressOf(text: string, option: string, hosts: Hosts): URL {
  const url = urlOf(text, option);
  hosts.check(url, option);
  return url;
}
