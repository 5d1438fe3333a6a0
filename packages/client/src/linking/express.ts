import { passOn } from '../express.ts';
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
export interface ExpressLinkingResponse {
  /**
   * Adds a cookie to those of the response.
   *
   * @param name - `Set-Cookie`
   * @param value - the cookie
   */
  appendHeader(name: string, value: string): unknown;
  /**
   * Sends the status and the headers.
   *
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns an object that sends the body
   */
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
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
  const linking = createLinking('expressLinking', options);
  const handler =
    (route: 'connect' | 'callback'): ExpressLinkingHandler<Incoming> =>
    async (request, response, next) => {
      try {
        const { status, headers, body } = await linking[route](request, {
          url: request.originalUrl ?? request.url ?? '',
          header: (name) => request.headers[name],
          setCookie: (cookie) => response.appendHeader('Set-Cookie', cookie),
        });
        response.writeHead(status, headers).end(body);
      } catch (error) {
        passOn(error, response, next);
      }
    };
  return { connect: handler('connect'), callback: handler('callback') };
}
