import { keepGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/** What the guard uses of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: GuardedRequest };
}

/** A middleware of Hono. */
export type HonoGuard = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/**
 * A middleware for Hono. It answers what it does not let in; {@link grantOf}, of the context, gives
 * the grant of what it lets in.
 *
 * @throws TypeError where an option is wrong
 *
 * @example
 * ```ts
 * app.use('/photos/*', honoGuard({ latchkey, scope: 'photos.read' }));
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
