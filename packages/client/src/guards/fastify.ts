import { keepGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** What the guard uses of Fastify's reply. */
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
   * @param headers - by name
   */
  headers(headers: Record<string, string>): unknown;
  /**
   * Sends a refusal.
   *
   * @param body - JSON
   */
  send(body: string): unknown;
}

/** An `onRequest` hook of Fastify, as {@link fastifyGuard} makes it. */
export type FastifyGuard = (request: GuardedRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * An `onRequest` hook for Fastify: it runs before the body is read. It answers what it does not let
 * in; {@link grantOf} gives the grant of what it lets in.
 *
 * @param options - whom to ask, and for which scope
 * @returns the hook, for one route or for `addHook`
 * @throws TypeError where an option is wrong
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
      keepGrant(request, await guard(request));
    } catch (error) {
      if (!(error instanceof GrantRequiredError)) throw error;
      reply.code(error.status);
      reply.headers({ ...error.headers });
      reply.send(JSON.stringify(error.body));
      // To Fastify, this says that the hook has answered.
      return reply;
    }
  };
}
