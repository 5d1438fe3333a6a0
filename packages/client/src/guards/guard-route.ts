import type { HttpRequest, HttpResponse } from '../frameworks/http.ts';
import { setGrant } from './grant-of.ts';
import { GrantRequiredError } from './grant-required-error.ts';
import { createGuard, type GuardOptions } from './require-grant.ts';

/** Creates a route that responds to the requests that a guard refuses, and records the grant of the others. */
export function guardRoute<Incoming extends object>(
  options: GuardOptions,
): (incoming: Incoming, request: HttpRequest) => Promise<HttpResponse | undefined> {
  const guard = createGuard(options);
  return async (incoming, request) => {
    try {
      setGrant(incoming, await guard(request));
      return undefined;
    } catch (error) {
      if (!(error instanceof GrantRequiredError)) throw error;
      return { ...error, body: JSON.stringify(error.body) };
    }
  };
}
