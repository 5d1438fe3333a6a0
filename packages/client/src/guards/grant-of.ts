import type { GrantDescription } from '@latchkey/schema';

// A map instead of a property of the request, so that no framework's type has to be extended.
const grants = new WeakMap<object, GrantDescription>();

/** Records the grant of a request that a guard has accepted. */
export function setGrant(request: object, grant: GrantDescription): void {
  grants.set(request, grant);
}

/**
 * Returns the grant of a request that a guard has accepted.
 *
 * @param request - the handler's argument: Express's or Fastify's request, the request of {@link withGrant}, or Hono's context
 * @returns the grant that {@link requireGrant} resolves to
 * @throws Error if no guard runs before the handler
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
  throw new Error(
    'No guard has accepted this request. Add a guard before the handler that calls grantOf.',
  );
}
