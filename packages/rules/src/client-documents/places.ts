import type { Milliseconds } from '@latchkey/domain/clock';

export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

interface Waiting {
  host: string;
  enter(): void;
}

/** How many fetches run at once, so that no stranger can make this service load a host or itself. */
export function createPlaces({
  perHost = 2,
  together = 8,
  patience = 5_000,
}: {
  perHost?: number;
  together?: number;
  patience?: Milliseconds;
} = {}) {
  const running = new Map<string, number>();
  const waiting: Waiting[] = [];
  const countOf = (host: string) => running.get(host) ?? 0;
  const sum = () => [...running.values()].reduce((total, count) => total + count, 0);
  const isFree = (host: string) => countOf(host) < perHost && sum() < together;

  function leave(host: string): void {
    if (countOf(host) === 1) running.delete(host);
    else running.set(host, countOf(host) - 1);
    const next = waiting.findIndex((one) => isFree(one.host));
    for (const one of next === -1 ? [] : waiting.splice(next, 1)) one.enter();
  }

  function wait(host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const one = { host, enter };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1);
        reject(new NoPlace());
      }, patience);
      waiting.push(one);
      function enter() {
        clearTimeout(timer);
        // Taken here, before anybody else can come.
        running.set(host, countOf(host) + 1);
        resolve();
      }
    });
  }

  return {
    /** @throws NoPlace if none gets free in time */
    async within<Result>(host: string, work: () => Promise<Result>): Promise<Result> {
      if (isFree(host)) running.set(host, countOf(host) + 1);
      else await wait(host);
      try {
        return await work();
      } finally {
        leave(host);
      }
    },
  };
}

export type Places = ReturnType<typeof createPlaces>;
