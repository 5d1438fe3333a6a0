import { type ExpressResponse, onExpress } from '../frameworks/express.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createLinking, type LinkingHeaders, type LinkingOptions } from './linking.ts';

/** The part of Express's request that the linking uses. Node's own request fits too. */
export interface ExpressLinkingRequest {
  /** The path and query; behind a mounted router, the part after its path. */
  readonly url?: string | undefined;
  /** The whole path and query, which Express adds. */
  readonly originalUrl?: string | undefined;
  /** The headers. Only those of `LinkingHeaders` are read. */
  readonly headers: LinkingHeaders;
}

/** The part of Express's response that the linking uses. Node's own response fits too. */
export interface ExpressLinkingResponse extends ExpressResponse {
  /**
   * Adds a cookie to those of the response.
   *
   * @param name - `Set-Cookie`
   * @param value - the cookie
   */
  appendHeader(name: string, value: string): unknown;
}

/** The request of Express, with what middleware adds to it, such as `request.session`. */
// biome-ignore lint/suspicious/noExplicitAny: What middleware adds has no type here. `expressLinking<express.Request>` has the types of Express.
export type AnyExpressRequest = ExpressLinkingRequest & Record<string, any>;

/**
 * A route handler of Express.
 *
 * @typeParam Incoming - the request
 */
export type ExpressLinkingHandler<Incoming> = (
  request: Incoming,
  response: ExpressLinkingResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

/**
 * Creates the two routes that link accounts, for Express and every framework that takes
 * `(request, response, next)`: `connect` sends the browser to the service, and `callback` receives it
 * when it returns. Errors that `onFailed` does not get go to `next`. With Node's own server, without
 * `next`, they are printed, and the response is 500.
 *
 * It needs no session and no store: a cookie of this browser keeps what the callback needs, for an hour,
 * and how the link ended, for 10 minutes. Only a person who navigates a tab begins or ends a link.
 *
 * @typeParam Incoming - the request, such as `expressLinking<express.Request>`
 * @param options - the client, the redirect URI, the scope, and what to do with the grant
 * @returns the handlers of two `GET` routes
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { expressLinking } from '@latchkey/client/linking';
 *
 * const { connect, callback } = expressLinking({
 *   latchkey,
 *   redirectUri: 'https://acme.example/callback',
 *   scope: 'profile.read',
 *   userOf: (request) => request.session.user,
 *   onLinked: (grant, request) =>
 *     links.save(request.session.user, { id: grant.grant_id, secret: encrypt(grant.grant_secret) }),
 * });
 * app.get('/connect', connect);
 * app.get('/callback', callback);
 * ```
 */
export function expressLinking<Incoming extends ExpressLinkingRequest = AnyExpressRequest>(
  options: LinkingOptions<Incoming>,
): {
  connect: ExpressLinkingHandler<Incoming>;
  callback: ExpressLinkingHandler<Incoming>;
} {
  const linking = createLinking(
    'expressLinking',
    options,
    (cookie, response: ExpressLinkingResponse) => response.appendHeader('Set-Cookie', cookie),
  );
  return handlersOf(linking, onExpress);
}
