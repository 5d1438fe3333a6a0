import {
  ConnectionError,
  type LatchkeyError,
  OutcomeUnknownError,
  RateLimitedError,
  ServerError,
  UnavailableError,
  UnexpectedResponseError,
} from './errors.ts';

/** Whether it is certain that the service did not do what was asked, and may do it a little later. */
export function nothingWasDone(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.maybeSent;
  return error instanceof RateLimitedError || error instanceof UnavailableError;
}

/**
 * Whether the service may have done what was asked, and its answer got lost.
 *
 * Not where the service says what it did. Not where the request was turned away before it came to
 * the service: a redirect, or a proxy's own 4xx.
 */
export function leavesOutcomeOpen(error: unknown): error is LatchkeyError {
  if (error instanceof ConnectionError) return error.maybeSent;
  if (error instanceof UnexpectedResponseError) {
    const { status = 0 } = error;
    return status < 300 || status >= 500;
  }
  return error instanceof OutcomeUnknownError || error instanceof ServerError;
}
