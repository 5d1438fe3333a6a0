import { type FastifyReply, onFastify } from '../frameworks/fastify.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createLinking, type LinkingHeaders, type LinkingOptions } from './linking.ts';

/** The part of Fastify's request that the linking uses. */
export interface FastifyLinkingRequest {
  /** The path and query. */
  readonly url: string;
  /** The whole path and query, where the framework changes `url`. It is read first. */
  readonly originalUrl?: string | undefined;
  /** The headers. Only those of `LinkingHeaders` are read. */
  readonly headers: LinkingHeaders;
}

/** The part of Fastify's reply that the linking uses. */
export interface FastifyLinkingReply extends FastifyReply {}

/** The request of Fastify, with what plugins add to it, such as `request.session`. */
// biome-ignore lint/suspicious/noExplicitAny: What plugins add has no type here. `fastifyLinking<FastifyRequest>` has the types of Fastify.
export type AnyFastifyRequest = FastifyLinkingRequest & Record<string, any>;

/**
 * A route handler of Fastify.
 *
 * @typeParam Incoming - the request
 */
export type FastifyLinkingHandler<Incoming> = (
  request: Incoming,
  reply: FastifyLinkingReply,
) => Promise<unknown>;

/**
 * Creates the two routes that link accounts, for Fastify: `connect` sends the browser to the service,
 * and `callback` receives it when it returns. Errors that `onFailed` does not get go to Fastify's error
 * handler.
 *
 * It needs no session and no store: a cookie of this browser keeps what the callback needs, for an hour,
 * and how the link ended, for 10 minutes. Only a person who navigates a tab begins or ends a link.
 *
 * @typeParam Incoming - the request, such as `fastifyLinking<FastifyRequest>`
 * @param options - the client, the redirect URI, the scope, and what to do with the grant
 * @returns the handlers of two `GET` routes
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { fastifyLinking } from '@latchkey/client/linking';
 * import { fastify } from 'fastify';
 *
 * const { connect, callback } = fastifyLinking({
 *   latchkey,
 *   redirectUri: 'https://acme.example/callback',
 *   scope: 'profile.read',
 *   userOf: (request) => request.session.user,
 *   onLinked: (grant, request) =>
 *     links.save(request.session.user, { id: grant.grant_id, secret: encrypt(grant.grant_secret) }),
 * });
 * const app = fastify();
 * app.get('/connect', connect);
 * app.get('/callback', callback);
 * ```
 */
export function fastifyLinking<Incoming extends FastifyLinkingRequest = AnyFastifyRequest>(
  options: LinkingOptions<Incoming>,
): {
  connect: FastifyLinkingHandler<Incoming>;
  callback: FastifyLinkingHandler<Incoming>;
} {
  const linking = createLinking('fastifyLinking', options, (cookie, reply: FastifyLinkingReply) =>
    reply.headers({ 'Set-Cookie': cookie }),
  );
  return handlersOf(linking, onFastify);
}
