import { setGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** The part of Express's response that the guard uses. Node's own response fits too. */
export interface ExpressResponse {
  /**
   * Sends the status and headers of a refusal.
   *
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns an object that sends the body
   */
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
}

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
  const guard = createGuard(options);
  return async (request, response, next) => {
    try {
      setGrant(request, await guard(request));
    } catch (error) {
      if (!(error instanceof GrantRequiredError)) return next(error);
      response.writeHead(error.status, { ...error.headers }).end(JSON.stringify(error.body));
      return;
    }
    next();
  };
}
