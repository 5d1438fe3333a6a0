import { onFetch, responseOf } from '../frameworks/fetch.ts';
import { handlersOf } from '../frameworks/http.ts';
import { createHost, type HostOptions } from './host.ts';

/** The part of a standard `Request` that the host routes use. */
export interface FetchHostRequest {
  /** The absolute URL. */
  readonly url: string;
  /** The headers. Only `origin` and `sec-fetch-site` are read. */
  readonly headers: {
    /**
     * Returns the value of a header.
     *
     * @param name - the name of the header, in lower case
     * @returns the value, or null if the request has no such header
     */
    get(name: string): string | null;
  };
  /**
   * Reads a form. Only `decide` calls it.
   *
   * @returns the members of the form
   */
  formData(): Promise<FetchHostForm>;
}

/** The part of a standard `FormData` that the host routes use. */
export interface FetchHostForm {
  /**
   * Calls a function for each member of the form.
   *
   * @param callback - gets the value and the name of a member
   */
  forEach(callback: (value: unknown, name: string) => void): void;
}

/**
 * A route of a host, as a handler that takes a request and returns a response.
 *
 * @typeParam Incoming - the request
 */
export type FetchHostHandler<Incoming> = (request: Incoming) => Promise<Response>;

/**
 * The routes of a host, as handlers that take a request and return a response.
 *
 * @typeParam Incoming - the request
 */
export interface FetchHost<Incoming> {
  /** The `SIGN_IN_URL` of the service. */
  handOff: FetchHostHandler<Incoming>;
  /** The form of your own consent page. */
  decide: FetchHostHandler<Incoming>;
  /** Leads to the connected applications. */
  connections: FetchHostHandler<Incoming>;
  /**
   * Ends the pages of a user who signs out, then calls your own handler.
   *
   * @param endSession - ends the session, and returns the response
   * @returns the handler of a `POST` route
   *
   * @example
   * ```ts
   * import { fetchHost } from '@latchkey/client/host';
   *
   * const { signOut } = fetchHost({
   *   admin,
   *   signInUrl: 'https://photos.example/link',
   *   accountOf: (request) => signedIn(request),
   *   signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
   * });
   * export const POST = signOut(() => Response.redirect('https://photos.example/', 303));
   * ```
   */
  signOut(
    endSession: (request: Incoming) => Response | Promise<Response>,
  ): FetchHostHandler<Incoming>;
}

/**
 * Creates the routes of the service that has the accounts, for everything that takes a `Request` and
 * returns a `Response`: route handlers of Next.js, and the `fetch` handlers of Deno, Bun and workers.
 * They reject with the errors that are no dead end for the user.
 *
 * - `handOff`, `GET`: the `SIGN_IN_URL` of the service. It says who is signed in, or leads to your
 *   sign-in page first
 * - `connections`, `POST`: leads to the page where users end what they have connected
 * - `signOut(endSession)`, `POST`: ends the pages of the user before you end the session
 * - `decide`, `POST`: the form of your own consent page; with `decision=deny`, also of a user who gives
 *   up signing in
 *
 * @typeParam Incoming - the request, such as `fetchHost<NextRequest>`
 * @param options - the operator's client, who is signed in, and your pages
 * @returns the handlers
 * @throws TypeError or LatchkeyConfigError if an option is not valid
 *
 * @example
 * ```ts
 * import { LatchkeyAdmin } from '@latchkey/client/admin';
 * import { fetchHost } from '@latchkey/client/host';
 *
 * const host = fetchHost({
 *   admin: new LatchkeyAdmin(),
 *   signInUrl: 'https://photos.example/link',
 *   accountOf: (request) => signedIn(request),
 *   signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
 * });
 * // With Next.js, in app/link/route.ts:
 * export const GET = host.handOff;
 * ```
 */
export function fetchHost<Incoming extends FetchHostRequest = Request>(
  options: HostOptions<Incoming>,
): FetchHost<Incoming> {
  const { signOut, ...routes } = createHost(options, async (request: Incoming) =>
    fieldsOf(await request.formData()),
  );
  return {
    ...handlersOf(routes, onFetch),
    signOut: (endSession) => async (request) => {
      const refused = await signOut(request, request, undefined);
      return refused ? responseOf(refused) : endSession(request);
    },
  };
}

// Without iteration, which the types of `lib: ["dom"]` lack before TypeScript 6.
function fieldsOf(form: FetchHostForm): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  form.forEach((value, name) => {
    fields.push([name, value]);
  });
  return Object.fromEntries(fields);
}
