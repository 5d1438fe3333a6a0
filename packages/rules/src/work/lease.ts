import { randomUUID } from 'node:crypto';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';

/** So long after a kill, another process takes a lease. With the time between two looks, it stays below 60 s. */
const LASTS: Milliseconds = 20_000;

/** That one process does a piece of work saves the others from it. It decides nothing: two may do it at once. */
export interface Leases {
  /** Whether this process has it from now on. Its own begins anew. */
  take(name: string): Promise<boolean>;
  /**
   * Works while it has the lease; does nothing if another process has it.
   *
   * @param keptFor - how long it is kept after the work. Default: not at all
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
  const takeFor = (name: string, lasts: Milliseconds) =>
    store.takeLease({ name, holder, now: clock(), lasts }).catch(() => true);

  return {
    take: (name) => takeFor(name, LASTS),

    async during(name, work, keptFor = 0) {
      const take = () => takeFor(name, Math.max(LASTS, keptFor));
      if (!(await take())) return;
      const renewing = setInterval(take, LASTS / 4).unref();
      try {
        await work();
      } finally {
        clearInterval(renewing);
        if (keptFor === 0) await store.releaseLease({ name, holder });
      }
    },
  };
}
