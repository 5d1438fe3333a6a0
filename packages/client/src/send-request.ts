import { connectionError } from './connection-error.ts';
import type { Fetch } from './fetch.ts';
import { type IsResult, type ReceivedResponse, readResponse } from './read-response.ts';
import { redactor } from './redact.ts';
import type { WithResponse } from './response-details.ts';
import { untilAborted } from './until-aborted.ts';

/** A request over the service's tRPC interface, and the kind of its result. */
export interface RequestCall {
  /** The name of the operation. */
  readonly operation: string;
  /** GET for a query, POST for a mutation. */
  readonly method: 'GET' | 'POST';
  readonly input: object | undefined;
  /** The parts of the input that no error may show. */
  readonly secretInputs?: readonly string[];
  /** Whether repeating it has the same effect as doing it once. */
  readonly isIdempotent: boolean;
  /** Checks the kind of a result. A response of another kind is not from Latchkey. */
  readonly isResult: IsResult;
}

/** The address and the settings of a request. */
export interface RequestOptions {
  /** With a slash at the end. */
  readonly baseUrl: URL;
  readonly fetch: Fetch | undefined;
  readonly userAgent: string;
  /** Goes into the Authorization header. */
  readonly secret: string;
  /** Ends the request, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request for one call. It retries nothing and does not use tRPC's batching: in a batch,
 * one lost response would leave several codes in doubt.
 *
 * @returns the result as the service sent it, including members that this version does not know
 * @throws LatchkeyError, or the reason of `signal`
 */
export async function sendRequest(
  { operation, method, input, secretInputs = [], isResult }: RequestCall,
  { baseUrl, fetch, userAgent, secret, signal }: RequestOptions,
): Promise<WithResponse<object>> {
  const redact = redactor([secret, ...secretInputs]);
  const url = new URL(`trpc/${operation}`, baseUrl);
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${secret}`,
    'user-agent': userAgent,
  };
  const json = JSON.stringify(input);
  if (method === 'GET' && input) url.searchParams.set('input', json);
  const init =
    method === 'GET' || !input
      ? { method, headers }
      : { method, headers: { ...headers, 'content-type': 'application/json' }, body: json };

  return untilAborted(signal, async () => {
    let received: ReceivedResponse;
    try {
      // Looked up for each request, so that a later replacement of the global (tracing, tests) is used.
      const send = fetch ?? globalThis.fetch;
      // Next.js keeps answers, so a revoked grant would live on. Not every runtime takes the option.
      const cache =
        'cache' in (globalThis.Request?.prototype ?? {}) && ({ cache: 'no-store' } as const);
      const response = await send(url.href, { ...init, ...cache, signal, redirect: 'manual' });
      const { status, headers } = response;
      received = { url, status, headers, text: await response.text() };
    } catch (thrown) {
      // It tells Next.js, which builds a page, to render it for each request instead.
      if ((thrown as { digest?: unknown } | null)?.digest === 'DYNAMIC_SERVER_USAGE') throw thrown;
      throw connectionError(thrown, baseUrl.origin, redact);
    }
    return readResponse(received, isResult, redact);
  });
}
