import type { Milliseconds } from '@latchkey/domain/clock';

export interface LookOptions {
  interval: Milliseconds;
  onError(error: unknown): void;
}

/**
 * Looks now, in the background, and again and again. A problem is told once, until a look is without it.
 *
 * @param look - returns what is wrong; an error that it throws is wrong, too
 * @returns what ends it, after the look that is under way
 */
export function keepLooking(
  look: (closing: AbortSignal) => Promise<readonly unknown[]>,
  { interval, onError }: LookOptions,
): () => Promise<void> {
  const closing = new AbortController();
  const { signal } = closing;
  let timer: NodeJS.Timeout | undefined;
  let told: ReadonlySet<string> = new Set();

  async function lookOnce(): Promise<void> {
    const problems = await look(signal).catch((error: unknown) => [error]);
    if (signal.aborted) return;
    for (const problem of problems) if (!told.has(String(problem))) onError(problem);
    told = new Set(problems.map(String));
    // Processes that started together should not all do it at once.
    timer = setTimeout(begin, interval * (0.5 + Math.random() / 2)).unref();
  }

  let looking: Promise<void>;
  function begin(): void {
    looking = lookOnce();
  }
  begin();
  return () => {
    closing.abort();
    clearTimeout(timer);
    return looking;
  };
}
