/**
 * Runs something until it settles or the signal aborts, whatever comes first: not every `fetch`
 * heeds its signal.
 *
 * @throws the signal's reason, as soon as it aborts
 */
export async function untilAborted<Result>(
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  // Listens before `fetch` does, so that the reason wins over what `fetch` makes of the abort.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([run(), aborted]);
}
