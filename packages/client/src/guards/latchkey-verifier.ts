import type { Account } from '@latchkey/schema';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GrantReader } from './require-grant.ts';

/** What {@link latchkeyVerifier} checks, and with what. */
export interface VerifierOptions {
  /** The client that checks grants, as for the guards. */
  latchkey: GrantReader;
  /** The resource whose grants are accepted, as for the guards. */
  resource: string;
}

/**
 * The class of the MCP SDK to which its `requireBearerAuth` responds with 401. It has to come from the
 * same SDK as `requireBearerAuth`, which responds with 500 to an error of any other class.
 */
export type VerifierErrorClass =
  | {
      /** Of `@modelcontextprotocol/server`, version 2. */
      OAuthError: new (
        code: string,
        message: string,
      ) => Error & { readonly code: string };
      InvalidTokenError?: never;
    }
  | {
      /** Of `@modelcontextprotocol/sdk/server/auth/errors.js`, version 1. */
      InvalidTokenError: new (
        message: string,
      ) => Error;
      OAuthError?: never;
    };

/** Options of {@link latchkeyVerifier}. */
export type LatchkeyVerifierOptions = VerifierOptions & VerifierErrorClass;

/** What a handler of the MCP SDK knows of a request: its `AuthInfo`. */
export interface VerifiedGrant {
  /** The grant's secret. */
  token: string;
  /** The address of the application's client document, or its id if it has none. */
  clientId: string;
  /** The scope tokens of the grant. */
  scopes: string[];
  /** In a minute, in whole seconds since 1970: each request is checked anew. */
  expiresAt: number;
  /** The resource that the grant is for (RFC 8707, section 2). */
  resource: URL;
  /** What else Latchkey tells of the grant. */
  extra: { grant_id: string; account: Account };
}

/** What `requireBearerAuth` of the MCP SDK takes as `verifier`: its `OAuthTokenVerifier`. */
export interface LatchkeyVerifier {
  /**
   * Checks a grant's secret with Latchkey.
   *
   * @param token - what the client sent
   * @returns the grant
   * @throws an error of the MCP SDK's class if it is the secret of no grant of this resource, and a
   *   {@link GrantRequiredError} if the grant could not be checked or its application is disabled
   *
   * @example
   * ```ts
   * import { latchkeyVerifier } from '@latchkey/client/guards';
   * import { OAuthError } from '@modelcontextprotocol/server';
   *
   * const verifier = latchkeyVerifier({ latchkey, resource, OAuthError });
   * const { extra } = await verifier.verifyAccessToken(grantSecret);
   * greet(extra.account.username);
   * ```
   */
  verifyAccessToken(token: string): Promise<VerifiedGrant>;
}

// requireBearerAuth refuses what has no time of expiry, and what is expired. It asks each time.
const EXPIRES_IN_SECONDS = 60;

/**
 * Creates what `requireBearerAuth` of the official MCP SDK asks about a token, in version 1 and 2 of the
 * SDK. A grant that is dead, or for another resource, is refused with 401, so that the client asks its
 * user again. Scopes are up to `requiredScopes`.
 *
 * @param options - the client to ask, the resource, and the MCP SDK's class
 * @returns the `verifier` of `requireBearerAuth`
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { latchkeyVerifier } from '@latchkey/client/guards';
 * import { requireBearerAuth } from '@modelcontextprotocol/express';
 * import { getOAuthProtectedResourceMetadataUrl, OAuthError } from '@modelcontextprotocol/server';
 *
 * const verifier = latchkeyVerifier({ latchkey, resource, OAuthError });
 * const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(resource));
 * const requiredScopes = ['notes.read'];
 * app.use('/mcp', requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl }));
 * ```
 */
export function latchkeyVerifier(options: LatchkeyVerifierOptions): LatchkeyVerifier {
  const { latchkey, resource } = options;
  const refuse = refusalOf(options);
  const guard = createGuard({ latchkey, resource });
  return {
    async verifyAccessToken(token) {
      const request = { headers: { authorization: `Bearer ${token}` } };
      const grant = await guard(request).catch((error: unknown) => {
        const isRefused = error instanceof GrantRequiredError && error.status === 401;
        throw isRefused ? refuse(error.message) : error;
      });
      return {
        token,
        clientId: grant.document_uri ?? grant.application_id,
        scopes: grant.scope.split(' '),
        expiresAt: Math.floor(Date.now() / 1000) + EXPIRES_IN_SECONDS,
        resource: new URL(resource),
        extra: { grant_id: grant.grant_id, account: grant.account },
      };
    },
  };
}

/** @throws TypeError without a class */
function refusalOf({
  OAuthError,
  InvalidTokenError,
}: VerifierErrorClass): (message: string) => Error {
  if (typeof OAuthError === 'function') {
    return (message) => new OAuthError('invalid_token', message);
  }
  if (typeof InvalidTokenError === 'function') return (message) => new InvalidTokenError(message);
  throw new TypeError(
    'OAuthError must be that class of "@modelcontextprotocol/server", or InvalidTokenError that of "@modelcontextprotocol/sdk/server/auth/errors.js".',
  );
}
