import type { GrantDescription } from '@latchkey/schema';
import { isLatchkeyError } from '../is-latchkey-error.ts';
import { grantSecretIn } from './credentials.ts';
import { refusals } from './refusals.ts';
import { covers, requiredTokens } from './scope.ts';

/** What a guard needs of the client. A `Latchkey` has it. */
export interface GrantReader {
  /**
   * Asks whose grant it is, as `Latchkey.grant` does.
   *
   * @param grantSecret - `lk_grant_…`, whose checksum is right
   * @returns the grant
   */
  grant(grantSecret: string): Promise<GrantDescription>;
}

/** What every guard takes. */
export interface GuardOptions {
  /**
   * Whom to ask. Make one client for all guards; its `timeoutMs` and `maxRetries` decide how long a
   * request waits where Latchkey does not answer. `new Latchkey({ applicationSecret: null })` is
   * enough.
   */
  latchkey: GrantReader;
  /**
   * The scope tokens (RFC 6749, section 3.3) that the grant has to have, all of them: separated by
   * spaces, or a list. Default: every live grant is let in.
   */
  scope?: string | readonly string[];
  /**
   * Names what is guarded, in the challenges (RFC 9110, section 11.5). Printable ASCII without `"`
   * and `\`. Default: `latchkey`.
   */
  realm?: string | undefined;
}

/** A request as the standard `fetch` has it, or as Node has it. */
export interface GuardedRequest {
  /** Of which `authorization` is read. */
  readonly headers:
    | { get(name: string): string | null }
    | { readonly authorization?: string | undefined };
}

/** Lets a request in, or throws. */
export type Guard = (request: GuardedRequest) => Promise<GrantDescription>;

/** Makes a guard, and finds out what is wrong with its options before the first request comes. */
export function createGuard(options: GuardOptions): Guard {
  const { latchkey } = options;
  const tokens = requiredTokens(options);
  const refuse = refusals(checkRealm(options.realm), tokens);

  return async (request) => {
    const authorization = authorizationOf(request);
    if (authorization === undefined) throw refuse.missing();
    const secret = grantSecretIn(authorization);
    if (secret === null) throw refuse.invalid();

    // Asked each time: what is kept here would let a grant in that was revoked in the meantime.
    const grant = await latchkey.grant(secret).catch((error: unknown) => {
      if (!isLatchkeyError(error)) throw error;
      // By name: the client may come from another copy of this package.
      if (error.name === 'AuthenticationError') throw refuse.invalid();
      throw refuse.unverifiable(error.retryAfter, error);
    });

    if (!covers(grant.scope, tokens)) throw refuse.insufficient();
    return grant;
  };
}

/**
 * Finds out whose grant a request comes with, and whether it may do what it asks for.
 *
 * Takes `Authorization: Bearer <grant secret>`, and `Basic` with the grant's id and secret. Each
 * request is checked with Latchkey, and nothing is kept: once a grant is revoked, the next request
 * is refused. What is no grant's secret by its form is refused without asking.
 *
 * To Latchkey this is a use of the grant: `recover` is not possible any more.
 *
 * @param request - a `Request`, or what Node, Express and Fastify call one
 * @param options - whom to ask, and for which scope
 * @returns the grant: its id, its scope, and the account as it was when it was linked
 * @throws {@link GrantRequiredError}, with the answer to send, where the request is not let in
 * @throws TypeError where an option is wrong
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

/** An empty header is one: only a request without it has sent no credentials. */
function authorizationOf({ headers }: GuardedRequest): string | undefined {
  if ('get' in headers && typeof headers.get === 'function') {
    return headers.get('authorization') ?? undefined;
  }
  return (headers as { authorization?: string }).authorization;
}

function checkRealm(realm = 'latchkey'): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(realm)) return realm;
  throw new TypeError('realm must be printable ASCII without " and \\, such as "api.example.com".');
}
