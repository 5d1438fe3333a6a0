import { setTimeout as sleep } from 'node:timers/promises';

export interface Pauses {
  first: number;
  most: number;
}

/** Partly random, so that calls that failed together do not retry together. */
export function growingPauses({ first, most }: Pauses): (signal?: AbortSignal) => Promise<void> {
  let longest = first;
  return async (signal) => {
    const pause = longest * (0.5 + Math.random() / 2);
    longest = Math.min(2 * longest, most);
    await sleep(pause, undefined, signal && { signal }).catch(() => undefined);
  };
}
