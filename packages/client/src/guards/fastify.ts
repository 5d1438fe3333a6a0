import { type FastifyReply, onFastify } from '../frameworks/fastify.ts';
import { guardRoute } from './guard-route.ts';
import type { GuardedRequest, GuardOptions } from './require-grant.ts';

export type { FastifyReply };

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
  return onFastify(guardRoute<GuardedRequest>(options));
}
