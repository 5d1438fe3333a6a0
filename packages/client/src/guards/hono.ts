import { responseOf } from '../frameworks/fetch.ts';
import { guardRoute } from './guard-route.ts';
import type { GuardedRequest, GuardOptions } from './require-grant.ts';

/** The part of Hono's context that the guard uses. */
export interface HonoContext {
  /** Hono's request. `raw` is the standard `Request`, whose headers the guard reads. */
  readonly req: { readonly raw: GuardedRequest };
}

/** Hono middleware that {@link honoGuard} creates. */
export type HonoGuard = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/**
 * Creates middleware for Hono. It responds to the requests that it refuses. For the others,
 * {@link grantOf} returns the grant; its argument is the context.
 *
 * @param options - the client to ask, and the grants to accept
 * @returns the middleware, for one route or for `app.use`
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { grantOf, honoGuard } from '@latchkey/client/guards';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use('/photos', honoGuard({ latchkey, scope: 'photos.read' }));
 * app.get('/photos', async (context) =>
 *   context.json(await photosOf(grantOf(context).account.id)),
 * );
 * ```
 */
export function honoGuard(options: GuardOptions): HonoGuard {
  const route = guardRoute(options);
  return async (context, next) => {
    const refused = await route(context, context.req.raw);
    return refused ? responseOf(refused) : void (await next());
  };
}
