import { CLIENTS_PATH } from '@latchkey/rules/registration/registered-clients';
import type { RequestContext } from './request-context.ts';
import { send } from './response.ts';
import { REGISTRATION_PATH } from './rest/registration-routes.ts';

const PATHS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/revoke', REGISTRATION_PATH]);
const STARTS = ['/.well-known/oauth-', `${CLIENTS_PATH}/`];

/** What a client in a browser calls, from a page of any origin. Nothing there depends on a cookie. */
export const isOpenToBrowsers = (path: string) =>
  PATHS.has(path) || STARTS.some((start) => path.startsWith(start));

/** @returns whether it was a preflight, which gets its response now */
export function letBrowsersIn(context: RequestContext): boolean {
  const { request, response } = context;
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader(
    'Access-Control-Expose-Headers',
    'WWW-Authenticate, Retry-After, X-Request-Id',
  );
  const { origin, 'access-control-request-method': asked } = request.headers;
  if (request.method !== 'OPTIONS' || origin === undefined || asked === undefined) return false;
  send(context, 204, 'text/plain; charset=UTF-8', null, {
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Allow-Headers': 'authorization, content-type, mcp-protocol-version',
    'Access-Control-Max-Age': '600',
  });
  response.end();
  return true;
}
