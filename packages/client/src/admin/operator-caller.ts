import type { AppRouter } from '@latchkey/schema/trpc';
import { createTRPCUntypedClient, TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { CallOptions } from '../options.ts';
import type { IsResult } from '../read-response.ts';
import type { SendLimits, ServiceClient } from '../service-client.ts';

/** An operation to call. */
export interface OperatorCall {
  readonly type: 'query' | 'mutation';
  /** Without `admin.`. */
  readonly name: string;
  readonly isResult: IsResult;
  /** The method that was called, which stacks leave out. */
  readonly method: unknown;
}

/** Calls an operation of the operator. */
export type OperatorCaller = (
  call: OperatorCall,
  input: object | undefined,
  options: CallOptions | undefined,
) => Promise<object>;

/** What the link needs besides what tRPC gives it. */
interface Context extends Record<string, unknown> {
  readonly isResult: IsResult;
  readonly limits: SendLimits;
}

/**
 * Makes tRPC's client call the operations. Its last link is the request that `Latchkey` makes too, so
 * both have the same timeouts, retries and errors.
 */
export function operatorCaller(service: ServiceClient, secret: string): OperatorCaller {
  const send: TRPCLink<AppRouter> =
    () =>
    ({ op: { path, type, input, context } }) =>
      observable((observer) => {
        const { isResult, limits } = context as Context;
        const call = {
          operation: path,
          method: type === 'query' ? ('GET' as const) : ('POST' as const),
          input: input as object | undefined,
          secretInputs: secretsIn(input),
          isIdempotent: type === 'query',
          isResult,
        };
        service.send(call, secret, limits).then(
          (data) => {
            observer.next({ result: { data } });
            observer.complete();
          },
          (error) => observer.error(TRPCClientError.from(error)),
        );
      });
  const client = createTRPCUntypedClient<AppRouter>({ links: [send] });

  return ({ type, name, isResult, method }, input, options = {}) =>
    service.runCall(method, name, options, async (limits) => {
      const context: Context = { isResult, limits };
      try {
        return (await client[type](`admin.${name}`, input, { context })) as object;
      } catch (error) {
        // tRPC wraps what the link throws.
        throw (error as TRPCClientError<AppRouter>).cause;
      }
    });
}

/** The credentials in an input, which no error may show. */
function secretsIn(input: unknown): string[] {
  const { link } = (input ?? {}) as { link?: unknown };
  return typeof link === 'string' ? [link] : [];
}
