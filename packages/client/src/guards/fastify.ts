import { keepGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** What the guard uses of Fastify's reply. */
export interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

/** An `onRequest` hook of Fastify. */
export type FastifyGuard = (request: GuardedRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * An `onRequest` hook for Fastify: it runs before the body is read. It answers what it does not let
 * in; {@link grantOf} gives the grant of what it lets in.
 *
 * @throws TypeError where an option is wrong
 *
 * @example
 * ```ts
 * app.addHook('onRequest', fastifyGuard({ latchkey, scope: 'photos.read' }));
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
