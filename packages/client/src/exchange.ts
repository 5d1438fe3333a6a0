import type { OperationName, OperationOutput } from '@latchkey/schema';
import { Answer } from './answer.ts';
import type { Call } from './calls.ts';
import { connectionError } from './connection.ts';
import type { Fetch, FetchResponse } from './fetch.ts';
import { redactor } from './redact.ts';

/** How to make a {@link Call}. */
export interface Exchange {
  readonly baseUrl: URL;
  readonly fetch: Fetch | undefined;
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
  { path, method, input, returns }: Call<Name>,
  { baseUrl, fetch, secret, signal }: Exchange,
): Promise<OperationOutput<Name>> {
  const redact = redactor([secret, ...Object.values(input ?? {}).map(String)]);
  const url = `${baseUrl.href.replace(/\/$/, '')}/trpc/${path}`;
  const headers = { accept: 'application/json', authorization: `Bearer ${secret}` };
  const init =
    input === undefined
      ? { method, headers }
      : {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(input),
        };

  const request = async () => {
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
    return new Answer(response, text, redact).result(returns) as OperationOutput<Name>;
  };

  signal.throwIfAborted();
  // Listens before `fetch` does, so that the reason wins over what `fetch` makes of the abort, and
  // nothing depends on `fetch` heeding its signal.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([request(), aborted]);
}
