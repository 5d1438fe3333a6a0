/** What the client hands to {@link Fetch} with the URL. */
export interface FetchInit {
  method: string;
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
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/**
 * The part of the standard `fetch` that the client uses. The global one fits, and so does one that
 * goes through a proxy or an agent. It sees the credentials of every call: choose it with care.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;
