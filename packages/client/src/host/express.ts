import { type ExpressResponse, onExpress } from '../frameworks/express.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createHost, type Host, type HostOptions } from './host.ts';

/** The part of Express's request that the host routes use. */
export interface ExpressHostRequest {
  /** The path and query. */
  readonly url?: string | undefined;
  /** The whole path and query, where the framework changes `url`. It is read first. */
  readonly originalUrl?: string | undefined;
  /** The headers. Only `origin` and `sec-fetch-site` are read. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The members of the form, as `express.urlencoded()` parses them. Only `decide` reads it. */
  readonly body?: unknown;
}

/** The part of Express's response that the host routes use. Node's own response fits too. */
export interface ExpressHostResponse extends ExpressResponse {}

/** The request of Express that `accountOf` gets, with what middleware adds to it, such as `request.session`. */
// biome-ignore lint/suspicious/noExplicitAny: What middleware adds has no type here. `expressHost<express.Request>` has the types of Express.
export type AnyExpressHostRequest = ExpressHostRequest & Record<string, any>;

/**
 * A route of a host, as a handler or middleware of Express.
 *
 * @typeParam Incoming - the request
 */
export type ExpressHostHandler<Incoming> = (
  request: Incoming,
  response: ExpressHostResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

/**
 * Creates the routes of the service that has the accounts, for Express and every framework that takes
 * `(request, response, next)`. Errors that are no dead end for the user go to `next`. With Node's own
 * server, without `next`, they are printed, and the response is 500.
 *
 * - `handOff`, `GET`: the `SIGN_IN_URL` of the service. It says who is signed in, or leads to your
 *   sign-in page first
 * - `connections`, `POST`: leads to the page where users end what they have connected
 * - `signOut`, middleware of your `POST` route: ends the pages of the user before you end the session
 * - `decide`, `POST`: the form of your own consent page, behind `express.urlencoded()`; with
 *   `decision=deny`, also of a user who gives up signing in
 *
 * @typeParam Incoming - the request, such as `expressHost<express.Request>`
 * @param options - the operator's client, who is signed in, and your pages
 * @returns the handlers
 * @throws TypeError or LatchkeyConfigError if an option is not valid
 *
 * @example
 * ```ts
 * import { LatchkeyAdmin } from '@latchkey/client/admin';
 * import { expressHost } from '@latchkey/client/host';
 *
 * const { handOff, connections, signOut } = expressHost({
 *   admin: new LatchkeyAdmin(),
 *   signInUrl: 'https://photos.example/link',
 *   accountOf: ({ session }) => session.account,
 *   signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
 * });
 * app.get('/link', handOff);
 * app.post('/connected-applications', connections);
 * app.post('/sign-out', signOut, endSession);
 * ```
 */
export function expressHost<Incoming extends ExpressHostRequest = AnyExpressHostRequest>(
  options: HostOptions<Incoming>,
): Record<keyof Host<Incoming>, ExpressHostHandler<Incoming>> {
  const host = createHost(options, ({ body }) => body);
  return handlersOf(host, onExpress);
}
