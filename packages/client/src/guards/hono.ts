import { keepGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** What the guard uses of Hono's context. */
export interface HonoContext {
  /** Hono's request; `raw` is the standard one, of which the guard reads the headers. */
  readonly req: { readonly raw: GuardedRequest };
}

/** A middleware of Hono, as {@link honoGuard} makes it. */
export type HonoGuard = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/**
 * A middleware for Hono. It answers what it does not let in; {@link grantOf}, of the context, gives
 * the grant of what it lets in.
 *
 * @param options - whom to ask, and for which scope
 * @returns the middleware, for one route or for `app.use`
 * @throws TypeError where an option is wrong
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
  const guard = createGuard(options);
  return async (context, next) => {
    try {
      keepGrant(context, await guard(context.req.raw));
    } catch (error) {
      if (error instanceof GrantRequiredError) return error.toResponse();
      throw error;
    }
    await next();
    return undefined;
  };
}
