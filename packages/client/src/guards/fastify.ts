import { setGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** The part of Fastify's reply that the guard uses. */
export interface FastifyReply {
  /**
   * Sets the status of a refusal.
   *
   * @param status - the HTTP status
   */
  code(status: number): unknown;
  /**
   * Sets the headers of a refusal.
   *
   * @param headers - the headers by name
   */
  headers(headers: Record<string, string>): unknown;
  /**
   * Sends the body of a refusal.
   *
   * @param body - the body as JSON
   */
  send(body: string): unknown;
}

/** Fastify `onRequest` hook that {@link fastifyGuard} creates. */
export type FastifyGuard = (request: GuardedRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Creates an `onRequest` hook for Fastify, which runs before the body is read. It responds to the
 * requests that it refuses. For the others, {@link grantOf} returns the grant.
 *
 * @param options - the client to ask, and the grants to accept
 * @returns the hook, for one route or for `addHook`
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { fastifyGuard, grantOf } from '@latchkey/client/guards';
 * import { fastify } from 'fastify';
 *
 * const app = fastify();
 * app.addHook('onRequest', fastifyGuard({ latchkey, scope: 'photos.read' }));
 * app.get('/photos', (request) => photosOf(grantOf(request).account.id));
 * ```
 */
export function fastifyGuard(options: GuardOptions): FastifyGuard {
  const guard = createGuard(options);
  return async (request, reply) => {
    try {
      setGrant(request, await guard(request));
    } catch (error) {
      if (!(error instanceof GrantRequiredError)) throw error;
      reply.code(error.status);
      reply.headers({ ...error.headers });
      reply.send(JSON.stringify(error.body));
      // Returning the reply tells Fastify that the hook has responded.
      return reply;
    }
  };
}
