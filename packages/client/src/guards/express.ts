import { type ExpressResponse, onExpress } from '../frameworks/express.ts';
import { guardRoute } from './guard-route.ts';
import type { GuardedRequest, GuardOptions } from './require-grant.ts';

export type { ExpressResponse };

/** Express middleware that {@link expressGuard} creates. */
export type ExpressGuard = (
  request: GuardedRequest,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

/**
 * Creates middleware for Express, and for every framework that takes `(request, response, next)`. It
 * responds to the requests that it refuses. For the others, {@link grantOf} returns the grant. Errors
 * that are not refusals go to `next`.
 *
 * @param options - the client to ask, and the grants to accept
 * @returns the middleware, for one route or for `app.use`
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { expressGuard, grantOf } from '@latchkey/client/guards';
 *
 * app.use('/photos', expressGuard({ latchkey, scope: 'photos.read' }));
 * app.get('/photos', async (request, response) => {
 *   response.json(await photosOf(grantOf(request).account.id));
 * });
 * ```
 */
export function expressGuard(options: GuardOptions): ExpressGuard {
  return onExpress(guardRoute<GuardedRequest>(options));
}
