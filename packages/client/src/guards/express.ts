import { keepGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** What the guard uses of Express's response; it is that of Node's. */
export interface ExpressResponse {
  /**
   * Sends status and headers of a refusal.
   *
   * @param status - the HTTP status
   * @param headers - by name
   * @returns what then takes the body
   */
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
}

/** A middleware of Express, as {@link expressGuard} makes it. */
export type ExpressGuard = (
  request: GuardedRequest,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

/**
 * A middleware for Express, and for what else takes `(request, response, next)`. It answers what it
 * does not let in; {@link grantOf} gives the grant of what it lets in. An error that is no refusal
 * goes to `next`.
 *
 * @param options - whom to ask, and for which scope
 * @returns the middleware, for one route or for `app.use`
 * @throws TypeError where an option is wrong
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
      keepGrant(request, await guard(request));
    } catch (error) {
      if (!(error instanceof GrantRequiredError)) return next(error);
      response.writeHead(error.status, { ...error.headers }).end(JSON.stringify(error.body));
      return;
    }
    next();
  };
}
