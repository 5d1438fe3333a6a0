import { parsedUrl } from '../browser-url.ts';
import { responseOf } from '../frameworks/fetch.ts';
import { type HttpRequest, type HttpResponse, headerOf } from '../frameworks/http.ts';
import { metadataAddress, resourceOf } from './resource.ts';
import { scopesOf } from './scopes.ts';

/** What a resource says about itself (RFC 9728, section 2). */
export interface ProtectedResourceOptions {
  /** The address of the resource, as the operator registered it and as clients know it. */
  resource: string;
  /**
   * Where clients get grants for it: the PUBLIC_URL of Latchkey, which is its issuer identifier
   * (RFC 8414, section 2).
   */
  authorizationServer: string;
  /** The scope tokens (RFC 6749, section 3.3) that clients may ask for. Default: none are named. */
  scopes?: readonly string[] | undefined;
  /** The name of the resource, for people. Default: none. */
  resourceName?: string | undefined;
}

/** The part of a request of Node's `http`, or of Express, that {@link protectedResource} reads. */
export interface MetadataRequest {
  /** The method, in upper case. */
  readonly method?: string | undefined;
  /** The path and query, below the path that the middleware is mounted on. */
  readonly url?: string | undefined;
  /** Express's whole path and query. */
  readonly originalUrl?: string | undefined;
  /** The headers. Only `origin` and `access-control-request-method` are read. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of Express's response that {@link protectedResource} uses. Node's own response fits too. */
export interface MetadataResponse {
  /**
   * Sends the status and headers.
   *
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns an object that sends the body
   */
  writeHead(status: number, headers: Record<string, string>): { end(body?: string): unknown };
}

/** Express middleware that {@link protectedResource} creates. */
export type ProtectedResource = (
  request: MetadataRequest,
  response: MetadataResponse,
  next: (error?: unknown) => void,
) => void;

// Pages of every origin may read it: it has nothing secret, and needs no credentials.
const cors = { 'Access-Control-Allow-Origin': '*' };

const preflight: HttpResponse = {
  status: 204,
  headers: {
    ...cors,
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Allow-Headers': 'authorization, content-type, mcp-protocol-version',
    'Access-Control-Max-Age': '600',
  },
  body: '',
};

/** Responds to the requests for the metadata; undefined for every other one. */
function createMetadata(options: ProtectedResourceOptions) {
  const { resource, authorizationServer, resourceName } = options;
  const { pathname: path } = new URL(metadataAddress(resourceOf(resource)));
  const scopes = scopesOf(options.scopes);
  const body = JSON.stringify({
    resource,
    authorization_servers: [issuer(authorizationServer)],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    ...(resourceName !== undefined && { resource_name: resourceName }),
  });
  const metadata: HttpResponse = {
    status: 200,
    headers: {
      'Content-Type': 'application/json; charset=UTF-8',
      'Cache-Control': 'no-store',
      ...cors,
    },
    body,
  };

  return (request: HttpRequest, pathname: string | undefined): HttpResponse | undefined => {
    if (pathname?.replace(/\/$/, '') !== path) return undefined;
    const { method } = request;
    const has = (name: string) => headerOf(request, name) != null;
    if (method === 'GET') return metadata;
    if (method === 'HEAD') return { ...metadata, body: '' };
    const isPreflight =
      method === 'OPTIONS' && has('origin') && has('access-control-request-method');
    return isPreflight ? preflight : undefined;
  };
}

/** @throws TypeError if it can't be the address of an authorization server */
function issuer(address: unknown): string {
  const url = parsedUrl(address);
  if (/^https?:$/.test(url?.protocol ?? '') && !url?.search && !url?.hash) return address as string;
  throw new TypeError(
    'authorizationServer must be the PUBLIC_URL of Latchkey, such as "https://link.example.com".',
  );
}

/**
 * Creates middleware for Express, and for every framework that takes `(request, response, next)`, that
 * serves the metadata of a resource (RFC 9728, section 3). Clients that a guard refuses find it by the
 * challenge. Mount it at the root, before the guards; every other request goes to `next`.
 *
 * @param options - the resource, and where clients get grants for it
 * @returns the middleware, for `app.use`
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { expressGuard, protectedResource } from '@latchkey/client/guards';
 *
 * const resource = 'https://mcp.example.com/mcp';
 * app.use(protectedResource({ resource, authorizationServer: 'https://link.example.com' }));
 * app.use('/mcp', expressGuard({ latchkey, resource, scope: 'notes.read' }));
 * ```
 */
export function protectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const metadata = createMetadata(options);
  return (request, response, next) => {
    const [pathname] = (request.originalUrl ?? request.url ?? '').split('?');
    const answer = metadata(request, pathname);
    if (answer === undefined) return next();
    response.writeHead(answer.status, { ...answer.headers }).end(answer.body);
  };
}

/**
 * Creates a function that serves the metadata of a resource (RFC 9728, section 3) where a handler takes
 * a `Request` and returns a `Response`: Hono, Next.js, Deno, Bun and workers.
 *
 * @param options - the resource, and where clients get grants for it
 * @returns a function that returns the response, and undefined for a request that is for something else
 * @throws TypeError if an option is not valid
 *
 * @example
 * ```ts
 * import { protectedResourceResponse, withGrant } from '@latchkey/client/guards';
 *
 * const resource = 'https://mcp.example.com/mcp';
 * const authorizationServer = 'https://link.example.com';
 * const metadata = protectedResourceResponse({ resource, authorizationServer });
 * const mcp = withGrant({ latchkey, resource }, (_, grant) => Response.json(grant.account));
 * export const fetch = (request: Request) => metadata(request) ?? mcp(request);
 * ```
 */
export function protectedResourceResponse(
  options: ProtectedResourceOptions,
): (request: Request) => Response | undefined {
  const metadata = createMetadata(options);
  return (request) => {
    const answer = metadata(request, new URL(request.url).pathname);
    return answer && responseOf(answer);
  };
}
