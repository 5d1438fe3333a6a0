import type { RequestContext } from './request-context.ts';

const PATHS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/revoke']);
const METADATA = '/.well-known/oauth-';

/** What a client in a browser calls, from a page of any origin. Nothing there depends on a cookie. */
export const isOpenToBrowsers = (path: string) => PATHS.has(path) || path.startsWith(METADATA);

/** @returns whether it was a preflight, which gets its response now */
export function letBrowsersIn(context: RequestContext): boolean {
  const { request, response, requestId } = context;
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader(
    'Access-Control-Expose-Headers',
    'WWW-Authenticate, Retry-After, X-Request-Id',
  );
  const { origin, 'access-control-request-method': asked } = request.headers;
  if (request.method !== 'OPTIONS' || origin === undefined || asked === undefined) return false;
  response
    .writeHead(204, {
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': 'authorization, content-type, mcp-protocol-version',
      'Access-Control-Max-Age': '600',
      'X-Request-Id': requestId,
    })
    .end();
  return true;
}
