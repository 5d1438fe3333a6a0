/** What the client hands to {@link Fetch} with the URL. */
export interface FetchInit {
  /** `GET` or `POST`. */
  method: string;
  /** By their names in lower case. `authorization` holds a credential. */
  headers: Record<string, string>;
  /** JSON; none with GET. */
  body?: string;
  /** Aborts on the timeout and on the caller's own signal. */
  signal: AbortSignal;
  /** Redirects are not followed: they could carry a credential to another host. */
  redirect: 'manual';
}

/** What the client reads of an answer. A `Response` has all of it. */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number;
  /** The headers, asked for by name in lower case. */
  readonly headers: {
    /** The value of a header, null where it is not there. */
    get(name: string): string | null;
  };
  /** The whole body. */
  text(): Promise<string>;
}

/**
 * The part of the standard `fetch` that the client uses. The global one fits, and so does one that
 * goes through a proxy or an agent. It sees the credentials of every call: choose it with care.
 *
 * @example
 * ```ts
 * import { type Fetch, Latchkey } from '@latchkey/client';
 *
 * // Counts the requests, retries included.
 * let requests = 0;
 * const fetch: Fetch = (url, init) => {
 *   requests += 1;
 *   return globalThis.fetch(url, init);
 * };
 * const latchkey = new Latchkey({ fetch });
 * ```
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;
