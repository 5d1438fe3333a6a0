import { onHono } from '../frameworks/hono.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createHost, type HostOptions } from './host.ts';

/** The part of Hono's context that the host routes use. */
export interface HonoHostContext {
  /** Hono's request. `raw` is the standard `Request`. */
  readonly req: {
    readonly raw: {
      readonly url: string;
      readonly headers: { get(name: string): string | null };
    };
    /**
     * Reads a form. Only `decide` calls it.
     *
     * @returns the members of the form
     */
    parseBody(): Promise<Record<string, unknown>>;
  };
  /**
   * Makes a response.
   *
   * @param body - the body
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns the response, with the headers and cookies that the context already has
   */
  body(body: string, status: 303 | 403 | 404 | 409, headers: Record<string, string>): Response;
}

/** The context of Hono that `accountOf` gets, with its `get`, `var` and everything else. */
// biome-ignore lint/suspicious/noExplicitAny: Variables have no type here. `honoHost<Context<Env>>` has the types of Hono.
export type AnyHonoHostContext = HonoHostContext & Record<string, any>;

/**
 * A route of a host, as a handler of Hono.
 *
 * @typeParam Context - the context
 */
export type HonoHostHandler<Context> = (context: Context) => Promise<Response>;

/**
 * The sign-out of a host, as middleware of Hono.
 *
 * @typeParam Context - the context
 */
export type HonoHostMiddleware<Context> = (
  context: Context,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/**
 * The routes of a host, for Hono.
 *
 * @typeParam Context - the context
 */
export interface HonoHost<Context> {
  /** The `SIGN_IN_URL` of the service. */
  handOff: HonoHostHandler<Context>;
  /** The form of your own consent page. */
  decide: HonoHostHandler<Context>;
  /** Leads to the connected applications. */
  connections: HonoHostHandler<Context>;
  /** Ends the pages of a user who signs out. */
  signOut: HonoHostMiddleware<Context>;
}

/**
 * Creates the routes of the service that has the accounts, for Hono. Instead of a request, `accountOf`
 * gets Hono's context. Errors that are no dead end for the user go to `app.onError`.
 *
 * - `handOff`, `GET`: the `SIGN_IN_URL` of the service. It says who is signed in, or leads to your
 *   sign-in page first
 * - `connections`, `POST`: leads to the page where users end what they have connected
 * - `signOut`, middleware of your `POST` route: ends the pages of the user before you end the session
 * - `decide`, `POST`: the form of your own consent page; with `decision=deny`, also of a user who gives
 *   up signing in
 *
 * @typeParam Context - the context, such as `honoHost<Context>`
 * @param options - the operator's client, who is signed in, and your pages
 * @returns the handlers
 * @throws TypeError or LatchkeyConfigError if an option is not valid
 *
 * @example
 * ```ts
 * import { LatchkeyAdmin } from '@latchkey/client/admin';
 * import { honoHost } from '@latchkey/client/host';
 * import { Hono } from 'hono';
 *
 * const { handOff, connections, signOut } = honoHost({
 *   admin: new LatchkeyAdmin(),
 *   signInUrl: 'https://photos.example/link',
 *   accountOf: (context) => context.get('account'),
 *   signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
 * });
 * const app = new Hono();
 * app.get('/link', handOff);
 * app.post('/connected-applications', connections);
 * app.post('/sign-out', signOut, (context) => context.redirect('/', 303));
 * ```
 */
export function honoHost<Context extends HonoHostContext = AnyHonoHostContext>(
  options: HostOptions<Context>,
): HonoHost<Context> {
  const host = createHost(options, ({ req }) => req.parseBody());
  return handlersOf(host, onHono) as HonoHost<Context>;
}
