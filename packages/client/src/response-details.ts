import type { FetchResponse } from './fetch.ts';
import type { Redact } from './redact.ts';

/** The status and the headers of an HTTP response. */
export interface ResponseDetails {
  /** HTTP status. */
  readonly status: number;
  /** The headers, with credentials redacted. */
  readonly headers: {
    /**
     * Returns the value of a header.
     *
     * @param name - the name of the header, in any case
     * @returns the value, or null if the response has no such header
     *
     * @example
     * ```ts
     * const { response } = await latchkey.account(grantSecret);
     * const answeredAt = response?.headers.get('Date');
     * ```
     */
    get(name: string): string | null;
  };
}

/**
 * A result, with the response that returned it. Both properties are not enumerable, so copies and
 * JSON of the result do not contain them.
 */
export type WithResponse<Result> = Result & {
  /** Identifies the request in the service's log. Quote it to the operator of the service. */
  readonly request_id?: string;
  /** The status and the headers of the response. After a retry, those of the last response. */
  readonly response?: ResponseDetails;
};

/**
 * The part of a response that results and errors carry. The headers are behind a function, so no log
 * shows them.
 */
export function responseDetails(
  { status, headers }: Pick<FetchResponse, 'status' | 'headers'>,
  redact: Redact,
): ResponseDetails {
  return {
    status,
    headers: {
      get(name) {
        // By lower-case name: a custom `fetch` promises no more.
        const value = headers.get(name.toLowerCase());
        return value === null ? null : redact(value);
      },
    },
  };
}

/** Adds the response to a result, as properties that are not enumerable. */
export function withResponse<Result extends object>(
  result: Result,
  {
    request_id,
    response,
  }: { request_id?: string | undefined; response?: ResponseDetails | undefined },
): WithResponse<Result> {
  return Object.defineProperties(result, {
    request_id: { value: request_id, configurable: true },
    response: { value: response, configurable: true },
  });
}
