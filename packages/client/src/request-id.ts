/** A result, and the id of the request that it is the answer to. */
export type WithRequestId<Result> = Result & {
  /**
   * Names the request in the service's log: give it to the operator of the service. Not enumerable:
   * it is in no copy and no JSON of the result.
   */
  readonly requestId?: string;
};

/** Puts the id on a result, out of the way of whatever lists its members. */
export function withRequestId<Result extends object>(
  result: Result,
  requestId: string | undefined,
): WithRequestId<Result> {
  return Object.defineProperty(result, 'requestId', { value: requestId, configurable: true });
}
