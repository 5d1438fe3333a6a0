/** How long a call may still run. */
export interface Deadline {
  /** Aborts if the time is up, or if nobody waits for the result any more. */
  readonly signal: AbortSignal;
  /** Milliseconds until the time is up. */
  readonly msLeft: number;
}

/**
 * Runs something until it settles or the signal aborts, whichever comes first. A custom `fetch` may
 * ignore its signal.
 *
 * @throws the signal's reason, as soon as it aborts
 */
export async function untilAborted<Result>(
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  // Listens before `fetch` does, so that the reason wins over the error that `fetch` makes of it.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([run(), aborted]);
}

/**
 * Runs a call within its timeout, until the caller's signal aborts.
 *
 * It uses a timer and a listener, both removed when the call ends. `AbortSignal.timeout` and
 * `AbortSignal.any` keep something for each call, which adds up on a long-lived signal.
 *
 * @throws what `run` throws, what `timeoutError` returns, or the reason of `signal`
 */
export async function withTimeout<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  timeoutError: (timeoutMs: number) => Error,
  run: (deadline: Deadline) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  const onAbort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(timeoutError(timeoutMs)), timeoutMs);
  signal?.addEventListener('abort', onAbort);
  try {
    return await run({
      signal: controller.signal,
      get msLeft() {
        return endsAt - performance.now();
      },
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
