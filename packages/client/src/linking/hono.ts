import { onHono } from '../frameworks/hono.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createLinking, type LinkingOptions } from './linking.ts';

/** The part of Hono's context that the linking uses. */
export interface HonoLinkingContext {
  /** Hono's request. `raw` is the standard `Request`. */
  readonly req: {
    readonly raw: {
      readonly url: string;
      readonly headers: { get(name: string): string | null };
    };
  };
  /**
   * Sets a header of the response, or adds one.
   *
   * @param name - the name of the header
   * @param value - its value
   * @param options - whether to keep headers of the same name
   */
  header(name: string, value: string, options?: { append?: boolean }): void;
  /**
   * Makes a response.
   *
   * @param body - the body
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns the response, with the headers and cookies that the context already has
   */
  body(body: string, status: 303 | 400 | 503, headers: Record<string, string>): Response;
}

/** The context of Hono, with its `get`, `var` and everything else. */
// biome-ignore lint/suspicious/noExplicitAny: Variables have no type here. `honoLinking<Context<Env>>` has the types of Hono.
export type AnyHonoContext = HonoLinkingContext & Record<string, any>;

/**
 * A route handler of Hono.
 *
 * @typeParam Context - the context
 */
export type HonoLinkingHandler<Context> = (context: Context) => Promise<Response>;

/**
 * Creates the two routes that link accounts, for Hono: `connect` sends the browser to the service, and
 * `callback` receives it when it returns. Instead of a request, `onLinked`, `onFailed` and `userOf` get
 * Hono's context. Errors that `onFailed` does not get go to `app.onError`.
 *
 * It needs no session and no store: a cookie of this browser keeps what the callback needs, for an hour,
 * and how the link ended, for 10 minutes. Only a person who navigates a tab begins or ends a link.
 *
 * @typeParam Context - the context, such as `honoLinking<Context>`
 * @param options - the client, the redirect URI, the scope, and what to do with the grant
 * @returns the handlers of two `GET` routes
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { honoLinking } from '@latchkey/client/linking';
 * import { Hono } from 'hono';
 *
 * const { connect, callback } = honoLinking({
 *   latchkey,
 *   redirectUri: 'https://acme.example/callback',
 *   scope: 'profile.read',
 *   userOf: (context) => context.get('user'),
 *   onLinked: (grant, context) =>
 *     links.save(context.get('user'), { id: grant.grant_id, secret: encrypt(grant.grant_secret) }),
 * });
 * const app = new Hono();
 * app.get('/connect', connect);
 * app.get('/callback', callback);
 * ```
 */
export function honoLinking<Context extends HonoLinkingContext = AnyHonoContext>(
  options: LinkingOptions<Context>,
): {
  connect: HonoLinkingHandler<Context>;
  callback: HonoLinkingHandler<Context>;
} {
  const linking = createLinking('honoLinking', options, (cookie, context: Context) =>
    context.header('Set-Cookie', cookie, { append: true }),
  );
  return handlersOf(linking, onHono) as Record<keyof typeof linking, HonoLinkingHandler<Context>>;
}
