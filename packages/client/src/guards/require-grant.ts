import { type GrantDescription, isUuid, parseCredential } from '@latchkey/schema';
import { hasBrand } from '../brand.ts';
import type { LatchkeyError } from '../errors.ts';
import { headerOf } from '../frameworks/http.ts';
import { refusals } from './grant-required-error.ts';
import { metadataAddress, resourceOf } from './resource.ts';
import { isToken, scopesOf } from './scopes.ts';

/** The part of the client that a guard uses. A `Latchkey` fits. */
export interface GrantReader {
  /**
   * Gets the grant of a secret, as `Latchkey.grant` does.
   *
   * @param grantSecret - the secret, `lk_grant_…`, with a correct checksum
   * @returns the grant
   */
  grant(grantSecret: string): Promise<GrantDescription>;
}

/**
 * Options of every guard.
 *
 * Without `applications`, a guard accepts the grants of every application. That is right for the
 * service that has the accounts: its API is for every application that a user has linked. A server that
 * belongs to one application, such as an internal service of it, has to list that application.
 * Otherwise another application can use a grant that the same user gave it, and so act as the user
 * there.
 */
export interface GuardOptions {
  /**
   * The client that checks grants. Use one client for all guards. Its `timeoutMs` and `maxRetries`
   * decide how long a request waits if Latchkey does not respond. It needs no application secret:
   * `new Latchkey({ applicationSecret: null })`.
   */
  latchkey: GrantReader;
  /**
   * The scope tokens (RFC 6749, section 3.3) that the grant must have, all of them: a string with
   * spaces between them, or an array. Default: every valid grant is accepted.
   */
  scope?: string | readonly string[];
  /**
   * The address of this server as a resource (RFC 8707, section 2), as the operator registered it: the
   * grants of this resource are accepted, and no others. Scheme and host in any case, a default port
   * and one `/` at the end make no difference. A client without a grant is told by the challenge where
   * {@link protectedResource} says how to get one (RFC 9728, section 5.1). Default: the grants that are
   * for no resource are accepted, and no others.
   */
  resource?: string;
  /**
   * The scope tokens that this resource offers, for the challenge (RFC 6750, section 3) of a guard with
   * `resource` and without `scope`: clients ask for them. No grant has to have them. Default: none.
   */
  scopes?: readonly string[] | undefined;
  /**
   * The applications whose grants are accepted: their ids, or the addresses of their client documents.
   * Default: every application's grants, see {@link GuardOptions}.
   */
  applications?: readonly string[];
  /**
   * The realm in the challenges (RFC 9110, section 11.5): the name of what is guarded. Printable
   * ASCII without `"` and `\`. Default: `latchkey`.
   */
  realm?: string | undefined;
}

/** A standard `Request`, or a request of Node's `http`. */
export interface GuardedRequest {
  /** The headers. Only `authorization` is read. */
  readonly headers:
    | { get(name: string): string | null }
    | { readonly authorization?: string | undefined };
}

/** Returns the grant of a request, or throws. */
export type Guard = (request: GuardedRequest) => Promise<GrantDescription>;

/** Creates a guard, and checks its options before the first request arrives. */
export function createGuard(options: GuardOptions): Guard {
  const { latchkey } = options;
  const tokens = requiredTokens(options);
  const applications = acceptedApplications(options);
  const resource = 'resource' in options ? resourceOf(options.resource) : null;
  const scopes = scopesOf(options.scopes);
  const refuse = refusals({
    realm: checkRealm(options.realm),
    tokens,
    resource: resource === null ? undefined : { metadata: metadataAddress(resource), scopes },
  });

  return async (request) => {
    const authorization: string | null | undefined = headerOf(request, 'authorization');
    // An empty header is not missing.
    if (authorization == null) throw refuse.missing();
    const secret = readGrantSecret(authorization);
    if (secret === null) throw refuse.invalid();

    // Checked for each request: a cached result would accept a grant that was revoked meanwhile.
    const grant = await latchkey.grant(secret).catch((error: unknown) => {
      if (!hasBrand(error)) throw error;
      const { name, retry_after: retryAfter } = error as LatchkeyError;
      // By name: the client may come from another copy of this package.
      if (name === 'AuthenticationError') throw refuse.invalid();
      // Not as an invalid grant: the caller would delete a link that works again later.
      if (name === 'ApplicationDisabledError') throw refuse.disabled(error);
      throw refuse.unverifiable(retryAfter, error);
    });

    // As for a dead grant: the caller needs another one for this resource.
    if ((grant.resource ?? null) !== resource) throw refuse.mismatched();
    const names = [grant.application_id, grant.document_uri ?? ''];
    if (applications && !names.some((name) => applications.has(name))) throw refuse.notAccepted();
    const held = grant.scope.split(' ');
    if (!tokens.every((token) => held.includes(token))) throw refuse.insufficient(held);
    return grant;
  };
}

/**
 * Returns the grant that a request is made with, if the grant is valid, is for this resource, has the
 * required scope and belongs to an accepted application.
 *
 * Accepts `Authorization: Bearer <grant secret>`, and `Basic` with the grant's id and secret. Latchkey
 * checks each request, and nothing is cached: after a grant is revoked, the next request is refused.
 * A malformed secret is refused without asking Latchkey.
 *
 * The check counts as a use of the grant, so `recover` is not possible afterwards. Without
 * `applications`, the grants of every application are accepted: see {@link GuardOptions}.
 *
 * @param request - a `Request`, or the request object of Node, Express or Fastify
 * @param options - the client to ask, and the grants to accept
 * @returns the grant: its id, its application's id, its resource, its scope, and the account as it was
 *   when the code was issued
 * @throws a {@link GrantRequiredError} if the request is refused; it contains the response to send
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { GrantRequiredError, requireGrant } from '@latchkey/client/guards';
 *
 * try {
 *   const grant = await requireGrant(request, { latchkey, scope: 'photos.read' });
 *   return Response.json(await photosOf(grant.account.id));
 * } catch (error) {
 *   if (error instanceof GrantRequiredError) return error.toResponse();
 *   throw error;
 * }
 * ```
 */
export async function requireGrant(
  request: GuardedRequest,
  options: GuardOptions,
): Promise<GrantDescription> {
  return createGuard(options)(request);
}

function checkRealm(realm = 'latchkey'): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(realm)) return realm;
  throw new TypeError('realm must be printable ASCII without " and \\, such as "api.example.com".');
}

/**
 * Reads the grant secret in an Authorization header, which is either Bearer (RFC 6750, section 2.1)
 * or Basic with the grant's id and secret (RFC 7617, section 2).
 *
 * A secret with a wrong form or checksum is refused here. It would cost a request to Latchkey, which
 * would count the failure against this server's address.
 *
 * @returns null if there is no well-formed secret, or it does not belong to the id beside it
 */
function readGrantSecret(authorization: string): string | null {
  const [, scheme, value = ''] = /^(bearer|basic) +([^ ]+) *$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() !== 'basic') return parseCredential('grantSecret', value) && value;
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/.exec(decodeBase64(value)) ?? [];
  return parseCredential('grantSecret', secret) === id.toLowerCase() ? secret : null;
}

function decodeBase64(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}

/**
 * The scope tokens that a guard requires; none if its options have no `scope`.
 *
 * A `scope` that is present but empty or undefined is a configuration error. Ignoring it would accept
 * every grant.
 *
 * @throws TypeError if `scope` is not a list of scope tokens
 */
function requiredTokens(options: { scope?: string | readonly string[] }): readonly string[] {
  if (!('scope' in options)) return [];
  const { scope } = options;
  const tokens: unknown = typeof scope === 'string' ? scope.split(' ') : scope;
  if (Array.isArray(tokens) && tokens.length > 0 && tokens.every(isToken)) return tokens;
  throw new TypeError(
    'scope must be one or more scope tokens, such as "photos.read photos.write" or ["photos.read"]. To accept every grant, leave scope out.',
  );
}

/**
 * The applications whose grants a guard accepts, ids in lower case; undefined for every application.
 *
 * As for `scope`, a list that is present but empty or undefined is a configuration error.
 *
 * @throws TypeError if `applications` is not a list of ids and addresses
 */
function acceptedApplications(options: {
  applications?: readonly string[];
}): ReadonlySet<string> | undefined {
  if (!('applications' in options)) return undefined;
  const names: unknown = options.applications;
  if (Array.isArray(names) && names.length > 0 && names.every(isApplication)) {
    return new Set(names.map((name: string) => (isUuid(name) ? name.toLowerCase() : name)));
  }
  throw new TypeError(
    'applications must be an array of application ids or addresses of client documents, such as ["0193aa00-0000-7000-8000-0000000000a0"]. To accept the grants of every application, leave applications out.',
  );
}

/** An id, or an address: character for character as the client sends it. */
const isApplication = (name: unknown) =>
  typeof name === 'string' && (isUuid(name) || (name.startsWith('https://') && URL.canParse(name)));
