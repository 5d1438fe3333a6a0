import type { Claimed } from '@latchkey/domain/claimed';
import { decodeJson } from '@latchkey/domain/decode-json';
import { fields, uris } from '@latchkey/schema';
import {
  CLIENT_METHODS,
  type ClientMethod,
  type LinkedDocument,
  SIGNING_ALGORITHMS,
} from '@latchkey/store/records';
import { isAddressOf } from './address.ts';
import { DocumentFailure, type DocumentFault } from './faults.ts';
import { isSecret, type PublicKey, publicKeys } from './keys.ts';
import { type ClientSchemes, mayRedirectTo } from './redirect-uris.ts';

/** What an application says of itself. */
export interface ClientDocument extends LinkedDocument {
  redirect_uris: string[];
  /** With spaces between the tokens, described or not; null if it names none. As a list, thousands take much room. */
  scope: Claimed<string> | null;
  /** Null if they are somewhere else, or the method needs none. */
  keys: Claimed<PublicKey[]> | null;
}

/** Of the redirect URIs of a document. */
const REDIRECT_URIS_READ = 100;

/** What these rules were written for. Whoever changes one reads decision 67 and `docs/protocol/clients.md` again. */
export const WRITTEN_FOR = {
  draft: 'draft-ietf-oauth-client-id-metadata-document-02',
  mcp: '2026-07-28',
};

type Members = Record<string, unknown>;

function refuse(reason: DocumentFault): never {
  throw new DocumentFailure(reason);
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOneOf = <Item extends string>(list: readonly Item[], value: unknown): value is Item =>
  list.some((item) => item === value);

export interface ReadOptions {
  allowPrivate: boolean;
  /** Of its redirect URIs. `all`: the operator vouches for the document. */
  schemes: ClientSchemes | 'all';
}

/** @throws DocumentFailure */
export function readDocument(
  address: string,
  body: Uint8Array,
  options: ReadOptions,
): ClientDocument {
  const members = parse(body);
  const { hostname: host } = new URL(address);
  if (members.client_id !== address) refuse('document_client_id');
  if ('client_secret' in members) refuse('document_client_secret');
  if (!mayHave(members.grant_types, 'authorization_code')) refuse('document_grant_types');
  if (!mayHave(members.response_types, 'code')) refuse('document_response_types');
  const method = readMethod(members);
  return {
    uri: address,
    name: textOrNull(members.client_name) ?? host,
    redirect_uris: readRedirectUris(members, options),
    homepage_uri: pageOrNull(members.client_uri, host),
    policy_uri: pageOrNull(members.policy_uri, host),
    tos_uri: pageOrNull(members.tos_uri, host),
    scope: readScope(members.scope),
    method,
    ...readKeys(members, method, options),
  };
}

function parse(body: Uint8Array): Members {
  let value: unknown;
  try {
    value = decodeJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    refuse('document_no_json');
  }
  return isObject(value) ? value : refuse('document_no_json');
}

/** A list that is left out has it by default (RFC 7591, section 2). */
const mayHave = (list: unknown, item: string) =>
  list === undefined || (Array.isArray(list) && list.includes(item));

function readRedirectUris({ redirect_uris: list }: Members, { schemes }: ReadOptions): string[] {
  if (!Array.isArray(list)) refuse('document_redirect_uris');
  const read: unknown[] = list.slice(0, REDIRECT_URIS_READ);
  const good = read.filter((uri) => mayRedirectTo(uri, schemes));
  if (good.length === 0) refuse('document_redirect_uris');
  return [...new Set(good)];
}

function textOrNull(value: unknown): string | null {
  const { success, data } = fields.text.safeParse(value);
  return success ? data : null;
}

function pageOrNull(value: unknown, host: string): string | null {
  const { success, data } = uris.webUri.safeParse(value);
  return success && new URL(data).hostname === host ? data : null;
}

const readScope = (scope: unknown): string | null =>
  typeof scope === 'string' && /[^ ]/.test(scope) ? scope : null;

/** Published documents name the method, the methods, or both: django-oauth-toolkit#1857. */
function readMethod(members: Members): ClientMethod {
  const {
    token_endpoint_auth_method: method,
    token_endpoint_auth_methods_supported: methods = method === undefined ? ['none'] : [],
  } = members;
  if (isOneOf(CLIENT_METHODS, method)) return method;
  const strongest = CLIENT_METHODS.find((one) => Array.isArray(methods) && methods.includes(one));
  return strongest ?? refuse('document_auth_method');
}

function readKeys(
  { jwks_uri, jwks, token_endpoint_auth_signing_alg: alg }: Members,
  method: ClientMethod,
  options: Pick<ReadOptions, 'allowPrivate'>,
): Pick<ClientDocument, 'jwks_uri' | 'keys' | 'signing_alg'> {
  const keys = jwks === undefined ? null : readInlineSet(jwks);
  if (method === 'none') return { jwks_uri: null, keys: null, signing_alg: null };
  if (alg !== undefined && !isOneOf(SIGNING_ALGORITHMS, alg)) refuse('document_signing_alg');
  const signing_alg = alg ?? null;
  // Not both, and one of them.
  if ((jwks_uri === undefined) === (keys === null)) refuse('document_keys');
  if (keys !== null) return { jwks_uri: null, keys, signing_alg };
  if (typeof jwks_uri !== 'string' || !isAddressOf(jwks_uri, options)) {
    refuse('document_keys_address');
  }
  return { jwks_uri, keys: null, signing_alg };
}

/** @throws DocumentFailure */
function readKeySet(jwks: unknown): unknown[] {
  return isObject(jwks) && Array.isArray(jwks.keys) ? jwks.keys : refuse('document_keys');
}

/** A secret in it can be read by everybody. @throws DocumentFailure */
function readInlineSet(jwks: unknown): PublicKey[] {
  const keys = readKeySet(jwks);
  return keys.some(isSecret) ? refuse('document_keys_secret') : publicKeys(keys);
}

/** Of what is at a `jwks_uri`. @throws DocumentFailure */
export const readKeysAlone = (body: Uint8Array): PublicKey[] => publicKeys(readKeySet(parse(body)));

/** Of a document, whatever else is in it by now. @throws DocumentFailure */
export const readInlineKeys = (body: Uint8Array): PublicKey[] => readInlineSet(parse(body).jwks);
