import { fields, uris } from '@latchkey/schema';
import { isAddressOf } from './address.ts';

export type ClientKeys =
  | { jwks_uri: string; jwks: null }
  | { jwks_uri: null; jwks: { keys: Record<string, unknown>[] } };

/** What an application says of itself. */
export interface ClientDocument {
  /** Its client_id, too. */
  address: string;
  host: string;
  name: string;
  redirect_uris: string[];
  homepage_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  /** The tokens that it names, described or not; null if it names none. */
  scopes: string[] | null;
  method: ClientMethod;
  /** Null unless the method needs them. */
  keys: ClientKeys | null;
  /** Of the keys; null for each that we take. */
  signing_alg: SigningAlgorithm | null;
}

/** The strongest one first. */
const METHODS = ['private_key_jwt', 'none'] as const;
export type ClientMethod = (typeof METHODS)[number];

export const SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Of the redirect URIs of a document. */
const REDIRECT_URIS_READ = 100;

/** What is wrong with a document. The message has no value of it. */
export class BadDocument extends Error {
  override readonly name = 'BadDocument';
}

type Members = Record<string, unknown>;

function refuse(member: string, problem: string): never {
  throw new BadDocument(`${member} ${problem}`);
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOneOf = <Item extends string>(list: readonly Item[], value: unknown): value is Item =>
  list.some((item) => item === value);

/** @throws BadDocument */
export function readDocument(
  address: string,
  body: Uint8Array,
  options: { allowPrivate: boolean },
): ClientDocument {
  const members = parse(body);
  const { hostname: host } = new URL(address);
  if (members.client_id !== address) refuse('client_id', 'is not the address of the document');
  if ('client_secret' in members)
    refuse('client_secret', 'is in a document that everybody can read');
  requireItem(members, 'grant_types', 'authorization_code');
  requireItem(members, 'response_types', 'code');
  const method = readMethod(members);
  return {
    address,
    host,
    name: textOrNull(members.client_name) ?? host,
    redirect_uris: readRedirectUris(members),
    homepage_uri: pageOrNull(members.client_uri, host),
    policy_uri: pageOrNull(members.policy_uri, host),
    tos_uri: pageOrNull(members.tos_uri, host),
    scopes: readScopes(members.scope),
    method,
    ...readKeys(members, method, options),
  };
}

function parse(body: Uint8Array): Members {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new BadDocument('The document is no JSON in UTF-8');
  }
  if (!isObject(value)) throw new BadDocument('The document is no JSON object');
  return value;
}

function requireItem(members: Members, name: string, item: string): void {
  if (!(name in members)) return;
  const list = members[name];
  if (!Array.isArray(list) || !list.includes(item)) refuse(name, `has no ${item}`);
}

function readRedirectUris({ redirect_uris: list }: Members): string[] {
  if (!Array.isArray(list)) refuse('redirect_uris', 'is no list');
  const read = list.slice(0, REDIRECT_URIS_READ);
  const good = read.filter((uri) => uris.redirectUri.safeParse(uri).success);
  if (good.length === 0) refuse('redirect_uris', 'has none that could be registered');
  return [...new Set<string>(good)];
}

function textOrNull(value: unknown): string | null {
  const { success, data } = fields.text.safeParse(value);
  return success ? data : null;
}

function pageOrNull(value: unknown, host: string): string | null {
  const { success, data } = uris.webUri.safeParse(value);
  return success && new URL(data).hostname === host ? data : null;
}

function readScopes(scope: unknown): string[] | null {
  const tokens = typeof scope === 'string' ? scope.split(' ').filter((token) => token !== '') : [];
  return tokens.length === 0 ? null : [...new Set(tokens)];
}

/** Published documents name the method, the methods, or both: django-oauth-toolkit#1857. */
function readMethod(members: Members): ClientMethod {
  const method = members.token_endpoint_auth_method;
  if (isOneOf(METHODS, method)) return method;
  const name = 'token_endpoint_auth_methods_supported';
  if (name in members) {
    const list = members[name];
    const strongest = METHODS.find((one) => Array.isArray(list) && list.includes(one));
    return strongest ?? refuse(name, 'has none that is taken here');
  }
  return method === undefined
    ? 'none'
    : refuse('token_endpoint_auth_method', 'is none that is taken here');
}

function readKeys(
  members: Members,
  method: ClientMethod,
  options: { allowPrivate: boolean },
): Pick<ClientDocument, 'keys' | 'signing_alg'> {
  const { jwks_uri, jwks, token_endpoint_auth_signing_alg: alg } = members;
  const keys = jwks === undefined ? null : readKeySet(jwks);
  if (method === 'none') return { keys: null, signing_alg: null };
  if (alg !== undefined && !isOneOf(SIGNING_ALGORITHMS, alg)) {
    refuse('token_endpoint_auth_signing_alg', 'is none that is taken here');
  }
  const signing_alg = alg ?? null;
  if (jwks_uri === undefined) {
    if (keys === null) refuse('jwks_uri', 'and jwks are missing');
    return { keys: { jwks_uri: null, jwks: { keys } }, signing_alg };
  }
  if (keys !== null) refuse('jwks_uri', 'and jwks are both there');
  if (typeof jwks_uri !== 'string' || !isAddressOf(jwks_uri, options)) {
    refuse('jwks_uri', 'is no address that is taken here');
  }
  return { keys: { jwks_uri, jwks: null }, signing_alg };
}

// RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1.
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

function readKeySet(jwks: unknown): Members[] {
  const keys = isObject(jwks) ? jwks.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject)) refuse('jwks', 'is no set of keys');
  if (keys.some((key) => key.kty === 'oct' || SECRET_MEMBERS.some((name) => name in key))) {
    refuse('jwks', 'has a key that is private or symmetric');
  }
  return keys;
}
