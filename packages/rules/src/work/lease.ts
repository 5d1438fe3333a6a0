import { randomUUID } from 'node:crypto';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';

/** So long after a kill, another process takes a lease. With the time between two looks for a chore, it stays below 60 s. */
const LASTS: Milliseconds = 20_000;

/** That one process does a piece of work saves the others from it. It decides nothing: two may do it at once. */
export interface Leases {
  /** Whether this process has it from now on. Its own begins anew. */
  take(name: string): Promise<boolean>;
  /**
   * Works while it has the lease; does nothing if another process has it.
   *
   * @param keptFor - how long it is kept once the work is done. Default: not at all
   */
  during(
    name: string,
    work: () => Promise<unknown>,
    keptFor?: Milliseconds | undefined,
  ): Promise<void>;
}

export function createLeases(
  store: Pick<Store, 'takeLease' | 'releaseLease'>,
  clock: Clock,
): Leases {
  const holder = randomUUID();
  // Where none can be taken, as on a full disk, the work goes on: it may make room.
  const take = (name: string, lasts = LASTS) =>
    store.takeLease({ name, holder, now: clock(), lasts }).catch(() => true);

  return {
    take: (name) => take(name),

    async during(name, work, keptFor = 0) {
      // Whoever takes it for less takes what is kept for the lease of a clock that is ahead.
      if (!(await take(name, Math.max(LASTS, keptFor)))) return;
      if (keptFor > LASTS) await take(name);
      let renewed: Promise<unknown> = Promise.resolve();
      const renewing = setInterval(() => {
        renewed = take(name);
      }, LASTS / 4).unref();
      let kept = 0;
      try {
        await work();
        kept = keptFor;
      } finally {
        clearInterval(renewing);
        // It would take the lease again.
        await renewed;
        await (kept > 0 ? take(name, kept) : store.releaseLease({ name, holder }));
      }
    },
  };
}
