import type { GrantDescription } from '@latchkey/schema';
import { responseOf } from '../frameworks/fetch.ts';
import { grantOf } from './grant-of.ts';
import { guardRoute } from './guard-route.ts';
import type { GuardedRequest, GuardOptions } from './require-grant.ts';

/**
 * Guards a handler that takes a `Request` and returns a `Response`: a route handler of Next.js, or
 * the `fetch` handler of Deno, Bun and workers. The handler receives the request, the grant, and then
 * its other arguments. It is not called for requests that the guard refuses.
 *
 * @typeParam Incoming - the type of the request
 * @typeParam Rest - the types of the other arguments, such as the context of a Next.js route
 * @param options - the client to ask, and the grants to accept
 * @param handler - called for each accepted request
 * @returns the guarded handler, which takes the same arguments without the grant
 * @throws TypeError if an option is not valid
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
  const route = guardRoute<Incoming>(options);
  return async (request, ...rest) => {
    const refused = await route(request, request);
    return refused ? responseOf(refused) : handler(request, grantOf(request), ...rest);
  };
}
