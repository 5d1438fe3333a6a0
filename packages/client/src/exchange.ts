import type { OperationInput, OperationName, OperationOutput, Operations } from '@latchkey/schema';
import { httpLink, type TRPCClientError } from '@trpc/client';
import { observableToPromise } from '@trpc/server/observable';
import { Answer } from './answer.ts';
import { connectionError } from './connection.ts';
import { withDeadline } from './deadline.ts';
import { LatchkeyError, TimeoutError } from './errors.ts';
import type { Fetch, FetchInit } from './fetch.ts';
import { redactor } from './redact.ts';

// httpLink ends a chain of links: it never asks for this.
const noNextLink = (): never => {
  throw new TypeError('httpLink is the last link.');
};

/** An operation, as tRPC calls it: a query where REST has GET, else a mutation. */
export type Call = {
  [Name in OperationName]: {
    readonly path: Name;
    readonly type: Operations[Name]['method'] extends 'GET' ? 'query' : 'mutation';
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
 * Makes a call, once: nothing here sends a request a second time.
 *
 * @returns the result as it came, with members that this version does not know
 * @throws LatchkeyError, or the reason of `signal`
 */
export async function exchange<Name extends OperationName>(
  { path, type, input, returns }: Extract<Call, { path: Name }>,
  { baseUrl, fetch, secret, secretInput = '', timeoutMs, signal }: Exchange,
): Promise<OperationOutput<Name>> {
  const redact = redactor([secret, secretInput]);
  let answer: Answer | undefined;

  // tRPC's link that sends each call in a request of its own: in a batch, codes would share one
  // fate. Called as it is, since the client around it would be a seventh of the whole bundle, for
  // subscriptions; and made for each call, since the status and the headers belong to the call.
  const link = httpLink({
    url: `${baseUrl.href.replace(/\/$/, '')}/trpc`,
    headers: { accept: 'application/json', authorization: `Bearer ${secret}` },
    fetch: async (url, init) => {
      // Looked up now, so that what replaces the global one later (tracing, tests) is used.
      const send = fetch ?? globalThis.fetch;
      const response = await send(String(url), { ...(init as FetchInit), redirect: 'manual' });
      answer = await Answer.read(response, redact);
      const json = answer.envelope();
      return { ok: true, json: async () => json };
    },
  })({});

  const timeoutError = () =>
    new TimeoutError(
      `No complete answer from ${baseUrl.origin} within ${timeoutMs} ms. The service may still do what was asked.`,
      { maybeSent: true },
    );

  return withDeadline(timeoutMs, signal, timeoutError, async (deadline) => {
    try {
      const op = { id: 1, type, path, input, context: {}, signal: deadline };
      const { result } = await observableToPromise(link({ op, next: noNextLink }));
      const data: unknown = 'data' in result ? result.data : undefined;
      if ((data as { object?: unknown } | null | undefined)?.object === returns) {
        return data as OperationOutput<Name>;
      }
    } catch (failure) {
      // tRPC's error is not passed on: it holds the whole answer.
      const { cause, data } = failure as TRPCClientError<never>;
      if (cause instanceof LatchkeyError) throw cause;
      throw answer ? answer.error(data) : connectionError(cause, baseUrl.origin, redact);
    }
    throw answer?.unexpected();
  });
}
