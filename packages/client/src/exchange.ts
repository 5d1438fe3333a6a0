import type { OperationInput, OperationName, OperationOutput, Operations } from '@latchkey/schema';
import { Answer } from './answer.ts';
import { connectionError } from './connection.ts';
import { withDeadline } from './deadline.ts';
import { TimeoutError } from './errors.ts';
import type { Fetch, FetchResponse } from './fetch.ts';
import { redactor } from './redact.ts';

/** A call of an operation over the service's tRPC wire. */
export type Call = {
  [Name in OperationName]: {
    readonly path: Name;
    /** As over REST: a query is sent with GET, a mutation with POST. */
    readonly method: Operations[Name]['method'] extends 'GET' ? 'GET' : 'POST';
    readonly input: OperationInput<Name> extends Record<string, never>
      ? undefined
      : OperationInput<Name>;
    /** The `object` member of its result, which tells it from an answer of something else. */
    readonly returns: OperationOutput<Name>['object'];
  };
}[OperationName];

/** How to make a {@link Call}. */
export interface Exchange {
  readonly baseUrl: URL;
  readonly fetch: Fetch | undefined;
  /** Goes into the Authorization header. */
  readonly secret: string;
  /** A member of the input that no error may show. */
  readonly secretInput?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a call, once: nothing here sends a request a second time. Each call is a request of its
 * own: in a batch of tRPC's, codes would share one fate.
 *
 * @returns the result as it came, with members that this version does not know
 * @throws LatchkeyError, or the reason of `signal`
 */
export async function exchange<Name extends OperationName>(
  { path, method, input, returns }: Extract<Call, { path: Name }>,
  { baseUrl, fetch, secret, secretInput = '', timeoutMs, signal }: Exchange,
): Promise<OperationOutput<Name>> {
  const redact = redactor([secret, secretInput]);
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

  const timeoutError = () =>
    new TimeoutError(
      `No complete answer from ${baseUrl.origin} within ${timeoutMs} ms. The service may still do what was asked.`,
      { maybeSent: true },
    );

  return withDeadline(timeoutMs, signal, timeoutError, async (deadline) => {
    let response: FetchResponse;
    let text: string;
    try {
      // Looked up now, so that what replaces the global one later (tracing, tests) is used.
      const send = fetch ?? globalThis.fetch;
      response = await send(url, { ...init, signal: deadline, redirect: 'manual' });
      text = await response.text();
    } catch (thrown) {
      throw connectionError(thrown, baseUrl.origin, redact);
    }
    return new Answer(response, text, redact).result(returns) as OperationOutput<Name>;
  });
}
