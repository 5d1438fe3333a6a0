import type { OperationName, OperationOutput } from '@latchkey/schema';
import type { OperationCall } from './calls.ts';
import { connectionError } from './connection-error.ts';
import type { Fetch } from './fetch.ts';
import { type ReceivedResponse, readResponse } from './read-response.ts';
import { redactor } from './redact.ts';
import type { WithResponse } from './response-details.ts';
import { untilAborted } from './until-aborted.ts';

/** What an operation returns. */
export type ResultOf<Name extends OperationName> = WithResponse<OperationOutput<Name>>;

/** Where and how to send a request. */
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
export async function sendRequest<Name extends OperationName>(
  { operation, method, input, secretInput = '', resultObject }: OperationCall<Name>,
  { baseUrl, fetch, userAgent, secret, signal }: RequestOptions,
): Promise<ResultOf<Name>> {
  const redact = redactor([secret, secretInput]);
  const url = new URL(`trpc/${operation}`, baseUrl);
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${secret}`,
    'user-agent': userAgent,
  };
  const init =
    input === undefined
      ? { method, headers }
      : {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(input),
        };

  return untilAborted(signal, async () => {
    let received: ReceivedResponse;
    try {
      // Looked up for each request, so that a later replacement of the global (tracing, tests) is used.
      const send = fetch ?? globalThis.fetch;
      const response = await send(url.href, { ...init, signal, redirect: 'manual' });
      const { status, headers } = response;
      received = { url, status, headers, text: await response.text() };
    } catch (thrown) {
      throw connectionError(thrown, baseUrl.origin, redact);
    }
    return readResponse(received, resultObject, redact) as ResultOf<Name>;
  });
}
