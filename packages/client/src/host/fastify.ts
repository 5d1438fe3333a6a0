import { type FastifyReply, onFastify } from '../frameworks/fastify.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createHost, type Host, type HostOptions } from './host.ts';

/** The part of Fastify's request that the host routes use. */
export interface FastifyHostRequest {
  /** The path and query. */
  readonly url: string;
  /** The whole path and query, where the framework changes `url`. It is read first. */
  readonly originalUrl?: string | undefined;
  /** The headers. Only `origin` and `sec-fetch-site` are read. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The members of the form. Fastify needs a parser for forms. Only `decide` reads it. */
  readonly body?: unknown;
}

/** The part of Fastify's reply that the host routes use. */
export interface FastifyHostReply extends FastifyReply {}

/** The request of Fastify that `accountOf` gets, with what plugins add to it, such as `request.session`. */
// biome-ignore lint/suspicious/noExplicitAny: What plugins add has no type here. `fastifyHost<FastifyRequest>` has the types of Fastify.
export type AnyFastifyHostRequest = FastifyHostRequest & Record<string, any>;

/**
 * A route of a host, as a handler or `preHandler` hook of Fastify.
 *
 * @typeParam Incoming - the request
 */
export type FastifyHostHandler<Incoming> = (
  request: Incoming,
  reply: FastifyHostReply,
) => Promise<unknown>;

/**
 * Creates the routes of the service that has the accounts, for Fastify. Errors that are no dead end for
 * the user go to Fastify's error handler. Fastify refuses every form until it has a parser for them, such
 * as `@fastify/formbody`.
 *
 * - `handOff`, `GET`: the `SIGN_IN_URL` of the service. It says who is signed in, or leads to your
 *   sign-in page first
 * - `connections`, `POST`: leads to the page where users end what they have connected
 * - `signOut`, `preHandler` of your `POST` route: ends the pages of the user before you end the session
 * - `decide`, `POST`: the form of your own consent page; with `decision=deny`, also of a user who gives
 *   up signing in
 *
 * @typeParam Incoming - the request, such as `fastifyHost<FastifyRequest>`
 * @param options - the operator's client, who is signed in, and your pages
 * @returns the handlers
 * @throws TypeError or LatchkeyConfigError if an option is not valid
 *
 * @example
 * ```ts
 * import { LatchkeyAdmin } from '@latchkey/client/admin';
 * import { fastifyHost } from '@latchkey/client/host';
 * import { fastify } from 'fastify';
 *
 * const { handOff, connections, signOut } = fastifyHost({
 *   admin: new LatchkeyAdmin(),
 *   signInUrl: 'https://photos.example/link',
 *   accountOf: ({ session }) => session.account,
 *   signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
 * });
 * const app = fastify();
 * app.get('/link', handOff);
 * app.post('/connected-applications', connections);
 * app.post('/sign-out', { preHandler: signOut }, async (request, reply) => reply.redirect('/', 303));
 * ```
 */
export function fastifyHost<Incoming extends FastifyHostRequest = AnyFastifyHostRequest>(
  options: HostOptions<Incoming>,
): Record<keyof Host<Incoming>, FastifyHostHandler<Incoming>> {
  const host = createHost(options, ({ body }) => body);
  return handlersOf(host, onFastify);
}
