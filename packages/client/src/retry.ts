import { LatchkeyError } from './errors.ts';
import { detailsOf, type Log } from './logger.ts';
import { leavesOutcomeOpen, nothingWasDone } from './outcome.ts';
import { untilAborted } from './until-aborted.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

/** What decides about another try. */
export interface Retries {
  readonly operation: string;
  /** Whether doing it twice is as good as doing it once. */
  readonly isRepeatable: boolean;
  readonly maxRetries: number;
  /** Until when: the waits are part of the time that the call has. */
  readonly time: { readonly signal: AbortSignal; readonly msLeft: number };
  readonly log: Log;
}

/**
 * Tries, and tries again where that is safe. The rules, in order:
 *
 * - At most `maxRetries` times, and not once the call was aborted.
 * - Where it is certain that nothing was done: always.
 * - Where the outcome is open, or a proxy answered 429: only what can be repeated. A `convert` may
 *   have spent the code; a `recover` that is still under way would, if it comes last, replace the
 *   secret that the next try returned.
 * - Any other error would come again.
 * - Not before the time that the server names in `Retry-After`; without one after 0.5 seconds, then
 *   1, 2, 4 and 5, less up to half of it by chance, so that clients don't come back all at once.
 * - Where the call's time is up by then, not at all: there is no use in waiting for it.
 *
 * @throws the last error; but where it promises that nothing was done, and one before it left the
 *   outcome open, that one
 */
export async function retrying<Result>(
  { operation, isRepeatable, maxRetries, time, log }: Retries,
  attempt: () => Promise<Result>,
): Promise<Result> {
  let open: LatchkeyError | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (time.signal.aborted || !(error instanceof LatchkeyError)) throw error;
      const nothing = nothingWasDone(error);
      if (leavesOutcomeOpen(error)) open = error;
      const again = nothing || (isRepeatable && (error === open || error.status === 429));
      const waitMs = error.retryAfter === undefined ? backoff(tries) : error.retryAfter * 1_000;
      if (!again || tries === maxRetries || waitMs >= time.msLeft) {
        throw nothing ? (open ?? error) : error;
      }
      log('warn', `${operation}: ${error.name}, trying again in ${Math.ceil(waitMs)} ms`, {
        operation,
        ...detailsOf(error),
        retryInMs: Math.ceil(waitMs),
      });
      await pause(waitMs, time.signal);
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
