import { setTimeout as sleep } from 'node:timers/promises';

export interface Pauses {
  /** The longest that the first pause can be, in milliseconds. Each further one can be twice that. */
  first: number;
  most: number;
}

/**
 * Pauses that grow. A random part of each keeps callers that failed together from trying again
 * together.
 */
export function growingPauses({ first, most }: Pauses): (signal?: AbortSignal) => Promise<void> {
  let longest = first;
  return async (signal) => {
    const pause = longest * (0.5 + Math.random() / 2);
    longest = Math.min(2 * longest, most);
    // The caller looks at the signal itself.
    await sleep(pause, undefined, signal && { signal }).catch(() => undefined);
  };
}
