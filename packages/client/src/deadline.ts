/**
 * Runs something until it settles, time is up, or the caller's signal aborts, whatever comes first.
 *
 * A timer and a listener of its own, both gone when it returns, rather than `AbortSignal.timeout`
 * and `AbortSignal.any`: those leave something behind for each call, which adds up on a signal that
 * lives as long as the process. And the result does not depend on `fetch` heeding its signal.
 *
 * @param run - gets a signal that aborts with the deadline
 * @param timeoutError - makes what is thrown when time is up
 * @throws the reason of `signal`, as it is, when that aborts
 */
export async function withDeadline<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  timeoutError: () => Error,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  const ended = new Promise<never>((_, reject) => {
    // Rejects before it aborts, so that the reason wins over what `fetch` makes of the abort.
    const end = (reason: unknown) => {
      reject(reason);
      controller.abort();
    };
    timer = setTimeout(() => end(timeoutError()), timeoutMs);
    onAbort = () => end(signal?.reason);
    signal?.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([run(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
