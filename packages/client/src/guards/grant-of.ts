import type { GrantDescription } from '@latchkey/schema';

// Beside the requests, not on them: no type of a framework has to be extended for it.
const grants = new WeakMap<object, GrantDescription>();

/** Notes that a guard let a request in. */
export function keepGrant(request: object, grant: GrantDescription): void {
  grants.set(request, grant);
}

/**
 * The grant of a request that a guard has let in.
 *
 * @param request - what the handler was given: Express's or Fastify's request, Hono's context
 * @returns what {@link requireGrant} resolves to
 * @throws Error where no guard stands before the handler
 *
 * @example
 * ```ts
 * import { expressGuard, grantOf } from '@latchkey/client/guards';
 *
 * app.get('/photos', expressGuard({ latchkey, scope: 'photos.read' }), (request, response) => {
 *   response.json(photosOf(grantOf(request).account.id));
 * });
 * ```
 */
export function grantOf(request: object): GrantDescription {
  const grant = grants.get(request);
  if (grant) return grant;
  throw new Error('No guard has let this request in. Put one before the handler that asks for it.');
}
