import { responseOf } from '../frameworks/fetch.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createLinking, type LinkingOptions } from './linking.ts';

/** The part of a standard `Request` that the linking uses. */
export interface FetchLinkingRequest {
  /** The absolute URL. */
  readonly url: string;
  /** The headers. Only those of `LinkingHeaders` are read. */
  readonly headers: {
    /**
     * Returns the value of a header.
     *
     * @param name - the name of the header, in lower case
     * @returns the value, or null if the request has no such header
     */
    get(name: string): string | null;
  };
}

/**
 * A handler that takes a request and returns a response.
 *
 * @typeParam Incoming - the request
 */
export type FetchLinkingHandler<Incoming> = (request: Incoming) => Promise<Response>;

/**
 * Creates the two routes that link accounts, for everything that takes a `Request` and returns a
 * `Response`: route handlers of Next.js, and the `fetch` handlers of Deno, Bun and workers. `connect`
 * sends the browser to the service, and `callback` receives it when it returns. Both reject with the
 * errors that `onFailed` does not get.
 *
 * It needs no session and no store: a cookie of this browser keeps what the callback needs, for an hour,
 * and how the link ended, for 10 minutes. Only a person who navigates a tab begins or ends a link.
 *
 * @typeParam Incoming - the request, such as `fetchLinking<NextRequest>`
 * @param options - the client, the redirect URI, the scope, and what to do with the grant
 * @returns the handlers of two `GET` routes
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { fetchLinking } from '@latchkey/client/linking';
 *
 * const { connect, callback } = fetchLinking({
 *   latchkey,
 *   redirectUri: 'https://acme.example/callback',
 *   scope: 'profile.read',
 *   onLinked: (grant) =>
 *     links.save(user, { id: grant.grant_id, secret: encrypt(grant.grant_secret) }),
 * });
 * // With Next.js, in app/connect/route.ts, and the same with `callback`:
 * export const GET = connect;
 * ```
 */
export function fetchLinking<Incoming extends FetchLinkingRequest = Request>(
  options: LinkingOptions<Incoming>,
): {
  connect: FetchLinkingHandler<Incoming>;
  callback: FetchLinkingHandler<Incoming>;
} {
  const linking = createLinking('fetchLinking', options, (cookie, cookies: string[]) =>
    cookies.push(cookie),
  );
  return handlersOf(linking, (route) => async (request: Incoming) => {
    const cookies: string[] = [];
    const response = responseOf(await route(request, request, cookies));
    for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
    return response;
  });
}
