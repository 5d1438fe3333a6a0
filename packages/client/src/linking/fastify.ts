import { createLinking, type LinkingHeaders, type LinkingOptions } from './linking.ts';

/** The part of Fastify's request that the linking uses. */
export interface FastifyLinkingRequest {
  /** The path and query. */
  readonly url: string;
  /** The headers. Only those of `LinkingHeaders` are read. */
  readonly headers: LinkingHeaders;
}

/** The part of Fastify's reply that the linking uses. */
export interface FastifyLinkingReply {
  /**
   * Adds a header. Cookies are added to those of the reply.
   *
   * @param name - the name of the header
   * @param value - its value
   */
  header(name: string, value: string): unknown;
  /**
   * Sets the status.
   *
   * @param status - the HTTP status
   */
  code(status: number): unknown;
  /**
   * Sends the response.
   *
   * @param body - the body
   */
  send(body: string): unknown;
}

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
  const linking = createLinking('fastifyLinking', options);
  const handler =
    (route: 'connect' | 'callback'): FastifyLinkingHandler<Incoming> =>
    async (request, reply) => {
      const { status, headers, body } = await linking[route](request, {
        url: request.url,
        header: (name) => request.headers[name],
        setCookie: (cookie) => reply.header('Set-Cookie', cookie),
      });
      for (const [name, value] of Object.entries(headers)) reply.header(name, value);
      reply.code(status);
      reply.send(body);
      // Returning the reply tells Fastify that the handler has responded.
      return reply;
    };
  return { connect: handler('connect'), callback: handler('callback') };
}
