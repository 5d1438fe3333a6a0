import {
  ConnectionError,
  LatchkeyError,
  OutcomeUnknownError,
  RateLimitedError,
  ServerError,
  UnavailableError,
  UnexpectedResponseError,
} from './errors.ts';
import { type Log, logDetailsOf } from './logger.ts';
import { type Deadline, untilAborted } from './until-aborted.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

/** The call, and the limits of its retries. */
export interface RetryOptions {
  readonly operation: string;
  /** Whether repeating it has the same effect as doing it once. */
  readonly isIdempotent: boolean;
  readonly maxRetries: number;
  /** Covers the waits too. */
  readonly deadline: Deadline;
  readonly log: Log;
}

/**
 * Makes an attempt, and retries it if that is safe. The rules, in order:
 *
 * - Retry at most `maxRetries` times, and never after an abort.
 * - If nothing was done, retry every call.
 * - If the outcome is open, or a proxy responded with 429, retry only idempotent calls. A `convert`
 *   may have used up the code. A `recover` that is still running could replace the secret that its
 *   retry returns.
 * - Retry after no other error: it would occur again.
 * - Wait as long as `Retry-After` says. Without it, wait 0.5 seconds, then 1, 2, 4 and 5. A random
 *   part of up to half is taken off, so that clients do not all come back at once.
 * - If the wait exceeds the time that is left, do not wait for it: reject now.
 *
 * @throws the last error, with one exception: if an earlier attempt left the outcome open and the
 *   last error says that nothing was done, the earlier error
 */
export async function withRetries<Result>(
  { operation, isIdempotent, maxRetries, deadline, log }: RetryOptions,
  attempt: () => Promise<Result>,
): Promise<Result> {
  let open: LatchkeyError | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (deadline.signal.aborted || !(error instanceof LatchkeyError)) throw error;
      const nothing = nothingWasDone(error);
      if (leavesOutcomeOpen(error)) open = error;
      const again = nothing || (isIdempotent && (error === open || error.status === 429));
      const waitMs = error.retry_after === undefined ? backoff(tries) : error.retry_after * 1_000;
      if (!again || tries === maxRetries || waitMs >= deadline.msLeft) {
        throw nothing ? (open ?? error) : error;
      }
      log('warn', `${operation}: ${error.name}, retrying in ${Math.ceil(waitMs)} ms`, {
        operation,
        ...logDetailsOf(error),
        retry_in_ms: Math.ceil(waitMs),
      });
      await pause(waitMs, deadline.signal);
    }
  }
}

function backoff(tries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS) * (1 - Math.random() / 2);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await untilAborted(
      signal,
      () =>
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, ms);
        }),
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the service certainly did nothing, and a retry may succeed. */
function nothingWasDone(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.maybe_sent;
  return error instanceof RateLimitedError || error instanceof UnavailableError;
}

/**
 * Whether the service may have carried out the request, but its response was lost.
 *
 * False if the service said what it did, and if the request never reached it: after a redirect, or
 * a proxy's own 4xx.
 */
export function leavesOutcomeOpen(error: unknown): error is LatchkeyError {
  if (error instanceof ConnectionError) return error.maybe_sent;
  if (error instanceof UnexpectedResponseError) {
    const { status = 0 } = error;
    return status < 300 || status >= 500;
  }
  return error instanceof OutcomeUnknownError || error instanceof ServerError;
}
