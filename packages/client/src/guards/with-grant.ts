import type { GrantDescription } from '@latchkey/schema';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardedRequest, type GuardOptions } from './require-grant.ts';

/**
 * Guards a handler that takes a `Request` and returns a `Response`: a route handler of Next.js, or
 * the `fetch` of Deno, Bun and workers. The handler gets the grant after the request, and then what
 * else it was called with. What is not let in is answered without it.
 *
 * @typeParam Incoming - the request that the handler takes
 * @typeParam Rest - what else it takes, such as the context of a route of Next.js
 * @param options - whom to ask, and for which scope
 * @param handler - called with what is let in
 * @returns the guarded handler, which takes what the handler takes, without the grant
 * @throws TypeError where an option is wrong
 *
 * @example
 * ```ts
 * import { withGrant } from '@latchkey/client/guards';
 *
 * export const GET = withGrant({ latchkey, scope: 'photos.read' }, async (request, grant) =>
 *   Response.json(await photosOf(grant.account.id)),
 * );
 * ```
 */
export function withGrant<Incoming extends GuardedRequest = Request, Rest extends unknown[] = []>(
  options: GuardOptions,
  handler: (
    request: Incoming,
    grant: GrantDescription,
    ...rest: Rest
  ) => Response | Promise<Response>,
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  const guard = createGuard(options);
  return async (request, ...rest) => {
    let grant: GrantDescription;
    try {
      grant = await guard(request);
    } catch (error) {
      if (error instanceof GrantRequiredError) return error.toResponse();
      throw error;
    }
    return handler(request, grant, ...rest);
  };
}
