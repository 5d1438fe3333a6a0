import type { Clock, Milliseconds } from '@latchkey/domain/clock';

/** Nothing was sent: there was no place for it. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Nothing was sent: too much of what was sent to this host has failed. */
export class HostFailing extends Error {
  override readonly name = 'HostFailing';
}

export interface Outgoing {
  host: string;
  /** Who asks for it. */
  asker: string;
  /** Where it asks from: free places go round these, and one has as many places as an asker. Default: the asker */
  site?: string;
  /** What fails at its host does not stop it. */
  isKnown: boolean;
  /** It may use the places that strangers can't take. Default: where it is known */
  hasOwnPlaces?: boolean;
}

export const siteOf = ({ asker, site = asker }: Pick<Outgoing, 'asker' | 'site'>): string => site;

export interface SchedulerOptions {
  clock: Clock;
  /** At once. */
  places: number;
  /** How many of them are for what is known. Default: 0 */
  placesOfKnown?: number;
  /**
   * How many of one asker, and of one site, run, and how many more of an asker wait; of a site, {@link ASKERS_OF_SITE}
   * times as many. Default: any number
   */
  perAsker?: number;
  /** How long one waits for a place. */
  patience: Milliseconds;
  /** Of what failed: whether its host took too long. */
  isLate(error: unknown): boolean;
}

export const PLACES_OF_HOST = 2;
/** That wait. Each holds a connection, and no connection of one is cut. */
export const ASKERS_OF_SITE = 8;
/** In {@link WINDOW}. */
export const FAILURES_OF_HOST = 20;
const WINDOW: Milliseconds = 60_000;

interface Waiting extends Outgoing {
  enter(): void;
}

interface Failing {
  times: Milliseconds[];
  late_at: Milliseconds | null;
}

/** What runs at once towards hosts that strangers name, so that none of them can hold up another, a host or this process. */
export function createScheduler({
  clock,
  places,
  placesOfKnown = 0,
  perAsker = Number.POSITIVE_INFINITY,
  patience,
  isLate,
}: SchedulerOptions) {
  const running = new Set<Outgoing>();
  /** By site. Whose turn is next comes first. */
  const waiting = new Map<string, Waiting[]>();
  /** By host. What failed last comes last. */
  const failing = new Map<string, Failing>();

  const isOver = (time: Milliseconds) => clock() >= time + WINDOW;
  const countOf = (isCounted: (one: Outgoing) => boolean) => [...running].filter(isCounted).length;

  const mayTakeAll = ({ isKnown, hasOwnPlaces = isKnown }: Outgoing) => hasOwnPlaces;

  function isFree(outgoing: Outgoing): boolean {
    const { host } = outgoing;
    const late_at = failing.get(host)?.late_at ?? null;
    const ofHost = late_at === null || isOver(late_at) ? PLACES_OF_HOST : 1;
    return (
      running.size < places &&
      (mayTakeAll(outgoing) || countOf((one) => !mayTakeAll(one)) < places - placesOfKnown) &&
      countOf((one) => one.host === host) < ofHost &&
      // Who has a /48 has 65,536 askers.
      countOf((one) => siteOf(one) === siteOf(outgoing)) < perAsker
    );
  }

  function refuseSpent({ host, isKnown }: Outgoing): void {
    const times = failing.get(host)?.times ?? [];
    const isSpent = times.filter((time) => !isOver(time)).length >= FAILURES_OF_HOST;
    if (isSpent && !isKnown) throw new HostFailing();
  }

  function noteFailure(host: string, error: unknown): void {
    const { times, late_at } = failing.get(host) ?? { times: [], late_at: null };
    failing.delete(host);
    failing.set(host, {
      times: [...times, clock()].slice(-FAILURES_OF_HOST),
      late_at: isLate(error) ? clock() : late_at,
    });
    for (const [oldest, { times }] of failing) {
      if (!times.every(isOver)) break;
      failing.delete(oldest);
    }
  }

  /** Lets in who waits and finds a place, each site in its turn. */
  function fill(): void {
    for (const [site, line] of [...waiting]) {
      const next = line.findIndex(isFree);
      if (next === -1) continue;
      for (const one of line.splice(next, 1)) one.enter();
      waiting.delete(site);
      if (line.length > 0) waiting.set(site, line);
    }
  }

  function wait(outgoing: Outgoing): Promise<void> {
    const { asker } = outgoing;
    const site = siteOf(outgoing);
    const line = waiting.get(site) ?? [];
    const ofAsker = line.filter((one) => one.asker === asker);
    if (ofAsker.length >= perAsker || line.length >= ASKERS_OF_SITE * perAsker) throw new NoPlace();
    waiting.set(site, line);
    return new Promise((resolve, reject) => {
      const one = { ...outgoing, enter };
      const timer = setTimeout(() => {
        line.splice(line.indexOf(one), 1);
        if (line.length === 0) waiting.delete(site);
        reject(new NoPlace());
      }, patience);
      line.push(one);
      function enter() {
        clearTimeout(timer);
        // Taken here, before anybody else can come.
        running.add(outgoing);
        resolve();
      }
    });
  }

  return {
    /** @throws NoPlace, HostFailing, or what the work throws: then it has failed */
    async run<Result>(outgoing: Outgoing, work: () => Promise<Result>): Promise<Result> {
      refuseSpent(outgoing);
      if (isFree(outgoing)) running.add(outgoing);
      else await wait(outgoing);
      try {
        // Others may have failed while it waited.
        refuseSpent(outgoing);
        return await work();
      } catch (error) {
        if (!(error instanceof HostFailing)) noteFailure(outgoing.host, error);
        throw error;
      } finally {
        running.delete(outgoing);
        fill();
      }
    },

    load: () => ({
      running: running.size,
      waiting: [...waiting.values()].reduce((sum, { length }) => sum + length, 0),
    }),
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;
