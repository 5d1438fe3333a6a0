/** The second argument of {@link Fetch}. */
export interface FetchInit {
  /** `GET` or `POST`. */
  method: string;
  /** Values by lower-case name. `authorization` holds a credential. */
  headers: Record<string, string>;
  /** JSON; absent with GET. */
  body?: string;
  /** Aborts on the timeout, and when the caller's signal aborts. */
  signal: AbortSignal;
  /** Redirects are not followed: they could send a credential to another host. */
  redirect: 'manual';
  /** No cache may answer, such as that of Next.js. Absent where the runtime does not know it. */
  cache?: 'no-store';
}

/** The part of a response that the client reads. A `Response` has all of it. */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number;
  /** The headers, read by lower-case name. */
  readonly headers: {
    /** The value of a header, or null if it is absent. */
    get(name: string): string | null;
  };
  /** The whole body. */
  text(): Promise<string>;
}

/**
 * The part of the standard `fetch` that the client uses. The global `fetch` fits, and so does one that
 * uses a proxy or an agent. It sees the credentials of every call, so use only one that you trust.
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
