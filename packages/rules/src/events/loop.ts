import type { Milliseconds } from '@latchkey/domain/clock';

export interface LoopOptions {
  /** @returns whether there may be more to do at once */
  look(): Promise<boolean>;
  /** The longest wait between two looks. */
  every: Milliseconds;
  onError(error: unknown): void;
  /** After a look that has failed. Default: 1 s. */
  pause?: Milliseconds;
}

/** Looks again and again: every while, and when it is woken. */
export function createLoop({ look, every, onError, pause = 1_000 }: LoopOptions) {
  const stopping = new AbortController();
  let wake = Promise.withResolvers<void>();
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers();
      let wait = every;
      try {
        if (await look()) wake.resolve();
      } catch (error) {
        if (!stopping.signal.aborted) onError(error);
        wake = Promise.withResolvers();
        wait = pause;
      }
      if (stopping.signal.aborted) return;
      const timer = setTimeout(() => wake.resolve(), wait);
      await wake.promise;
      clearTimeout(timer);
    }
  }

  return {
    get isStopping() {
      return stopping.signal.aborted;
    },

    start() {
      running = run();
    },

    /** Looks at once, or once more after the look that is under way. */
    wake: () => wake.resolve(),

    /** Resolves after the look that is under way. */
    async stop(): Promise<void> {
      stopping.abort();
      wake.resolve();
      await running;
    },
  };
}
