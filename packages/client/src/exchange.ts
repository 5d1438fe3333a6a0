import type { OperationName, OperationOutput } from '@latchkey/schema';
import { Answer } from './answer.ts';
import type { Call } from './calls.ts';
import { connectionError } from './connection.ts';
import type { Fetch, FetchResponse } from './fetch.ts';
import { redactor } from './redact.ts';
import type { WithRequestId } from './request-id.ts';
import { untilAborted } from './until-aborted.ts';

/** What an operation returns. */
export type Result<Name extends OperationName> = WithRequestId<OperationOutput<Name>>;

/** How to make a {@link Call}. */
export interface Exchange {
  /** With a slash at the end. */
  readonly baseUrl: URL;
  readonly fetch: Fetch | undefined;
  readonly userAgent: string;
  /** Goes into the Authorization header. */
  readonly secret: string;
  /** Ends the call, which then throws the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Makes a call, once: nothing here sends a request a second time. Each call is a request of its
 * own: in a batch of tRPC's, codes would share one fate.
 *
 * @returns the result as it came, with members that this version does not know
 * @throws LatchkeyError, or the reason of `signal`
 */
export async function exchange<Name extends OperationName>(
  { path, method, input, secretInput = '', returns }: Call<Name>,
  { baseUrl, fetch, userAgent, secret, signal }: Exchange,
): Promise<Result<Name>> {
  const redact = redactor([secret, secretInput]);
  const url = `${baseUrl.href}trpc/${path}`;
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
    let response: FetchResponse;
    let text: string;
    try {
      // Looked up now, so that what replaces the global one later (tracing, tests) is used.
      const send = fetch ?? globalThis.fetch;
      response = await send(url, { ...init, signal, redirect: 'manual' });
      text = await response.text();
    } catch (thrown) {
      throw connectionError(thrown, baseUrl.origin, redact);
    }
    return new Answer(response, text, redact).result(returns) as Result<Name>;
  });
}
