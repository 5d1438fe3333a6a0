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
  /** However long it takes, it keeps its place, unless what its site asks for fails again and again. Default: false */
  keepsPlace?: boolean;
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
  /** What has run for longer is ended for one who waits. Default: {@link TURN} */
  turn?: Milliseconds;
  /** Of what failed: whether its host took too long. */
  isLate(error: unknown): boolean;
}

export const PLACES_OF_HOST = 2;
/** That wait. Each holds a connection, and no connection of one is cut. */
export const ASKERS_OF_SITE = 8;
/** In {@link WINDOW}. */
export const FAILURES_OF_HOST = 20;
const WINDOW: Milliseconds = 60_000;
/** Of a site in {@link WINDOW}: what somebody who shares it may cause without meaning harm. */
const MISTAKES = 3;
/** So nobody waits much longer for a place that a silent host has. Most responses take a tenth of it. */
export const TURN: Milliseconds = 1_000;

interface Running extends Outgoing {
  isLong: boolean;
  end: AbortController;
  /** The site that has ended it. */
  taker?: string;
}

interface Waiting extends Outgoing {
  enter(): void;
}

/** How often something happened in {@link WINDOW}, by name, up to {@link FAILURES_OF_HOST} times. */
function createCounts(clock: Clock) {
  /** What happened last comes last. */
  const times = new Map<string, Milliseconds[]>();
  const isOver = (time: Milliseconds) => clock() >= time + WINDOW;
  return {
    of: (name: string) => (times.get(name) ?? []).filter((time) => !isOver(time)).length,
    add(name: string): void {
      const earlier = times.get(name) ?? [];
      times.delete(name);
      times.set(name, [...earlier, clock()].slice(-FAILURES_OF_HOST));
      for (const [oldest, all] of times) {
        if (!all.every(isOver)) break;
        times.delete(oldest);
      }
    },
  };
}

/** What runs at once towards hosts that strangers name, so that none of them can hold up another, a host or this process. */
export function createScheduler({
  clock,
  places,
  placesOfKnown = 0,
  perAsker = Number.POSITIVE_INFINITY,
  patience,
  turn = TURN,
  isLate,
}: SchedulerOptions) {
  /** What began first comes first. */
  const running = new Set<Running>();
  /** By site. Whose turn is next comes first. */
  const waiting = new Map<string, Waiting[]>();
  const failedAtHost = createCounts(clock);
  const lateAtHost = createCounts(clock);
  /** Of what a site asked for, also what was ended for others. */
  const failedOfSite = createCounts(clock);

  const failuresOf = (outgoing: Outgoing) => failedOfSite.of(siteOf(outgoing));
  const mayTakeAll = ({ isKnown, hasOwnPlaces = isKnown }: Outgoing) => hasOwnPlaces;

  function isFree(outgoing: Outgoing, among: readonly Outgoing[] = [...running]): boolean {
    const { host } = outgoing;
    const countOf = (isCounted: (one: Outgoing) => boolean) => among.filter(isCounted).length;
    const ofHost = lateAtHost.of(host) === 0 ? PLACES_OF_HOST : 1;
    return (
      among.length < places &&
      (mayTakeAll(outgoing) || countOf((one) => !mayTakeAll(one)) < places - placesOfKnown) &&
      countOf((one) => one.host === host) < ofHost &&
      // Who has a /48 has 65,536 askers.
      countOf((one) => siteOf(one) === siteOf(outgoing)) < perAsker
    );
  }

  function refuseSpent({ host, isKnown }: Outgoing): void {
    if (!isKnown && failedAtHost.of(host) >= FAILURES_OF_HOST) throw new HostFailing();
  }

  function noteFailure({ end, ...outgoing }: Running, error: unknown): void {
    failedOfSite.add(siteOf(outgoing));
    // Its host may have needed a moment more.
    if (end.signal.aborted) return;
    failedAtHost.add(outgoing.host);
    if (isLate(error)) lateAtHost.add(outgoing.host);
  }

  function enter(outgoing: Outgoing): Running {
    const one = { ...outgoing, isLong: false, end: new AbortController() };
    running.add(one);
    return one;
  }

  /** Nobody ends their own. Sites that ask for what fails would otherwise end each slow one of everybody else. */
  function mayEnd(outgoing: Outgoing, one: Running): boolean {
    if (!one.isLong || siteOf(one) === siteOf(outgoing)) return false;
    const [own, others] = [failuresOf(outgoing), failuresOf(one)];
    // No host is asked less patiently because it is asked more.
    const isSpared = one.keepsPlace || one.host === outgoing.host;
    return isSpared ? others > own + MISTAKES : others > own || own === 0;
  }

  /**
   * Whether one who waits has a place once what is ended has left: if need be, what has run for longest of the site
   * with the most failures.
   */
  function makeRoom(outgoing: Outgoing): boolean {
    const staying = [...running].filter(({ end }) => !end.signal.aborted);
    if (isFree(outgoing, staying)) return true;
    const without = (one: Running) => staying.filter((other) => other !== one);
    const ended = staying
      .filter((one) => mayEnd(outgoing, one))
      .sort((a, b) => failuresOf(b) - failuresOf(a))
      .find((one) => isFree(outgoing, without(one)));
    if (ended === undefined) return false;
    ended.taker = siteOf(outgoing);
    ended.end.abort();
    return true;
  }

  /**
   * Lets in who waits and finds a place, each site in its turn. For the others, it ends what it may: first for those
   * who fail least.
   *
   * @param first - has ended what has left: otherwise it would wait for each site that has ended nothing
   */
  function fill(first?: string): void {
    const turns = new Set([...(first === undefined ? [] : [first]), ...waiting.keys()]);
    for (const site of turns) {
      const line = waiting.get(site) ?? [];
      const next = line.findIndex((one) => isFree(one));
      if (next === -1) continue;
      for (const one of line.splice(next, 1)) one.enter();
      waiting.delete(site);
      if (line.length > 0) waiting.set(site, line);
    }
    const lines = [...waiting].sort(([a], [b]) => failedOfSite.of(a) - failedOfSite.of(b));
    for (const [, line] of lines) line.some(makeRoom);
  }

  function wait(outgoing: Outgoing): Promise<Running> {
    const { asker } = outgoing;
    const site = siteOf(outgoing);
    const line = waiting.get(site) ?? [];
    const ofAsker = line.filter((one) => one.asker === asker);
    if (ofAsker.length >= perAsker || line.length >= ASKERS_OF_SITE * perAsker) throw new NoPlace();
    waiting.set(site, line);
    return new Promise((resolve, reject) => {
      const one = { ...outgoing, enter: enterNow };
      const timer = setTimeout(() => {
        line.splice(line.indexOf(one), 1);
        if (line.length === 0) waiting.delete(site);
        reject(new NoPlace());
      }, patience);
      line.push(one);
      makeRoom(one);
      function enterNow() {
        clearTimeout(timer);
        // Taken here, before anybody else can come.
        resolve(enter(outgoing));
      }
    });
  }

  return {
    /**
     * @param work - its place is that of others once it has ended, so it ends soon after the signal
     * @throws NoPlace, HostFailing, or what the work throws: then it has failed
     */
    async run<Result>(
      outgoing: Outgoing,
      work: (signal: AbortSignal) => Promise<Result>,
    ): Promise<Result> {
      refuseSpent(outgoing);
      const one = isFree(outgoing) ? enter(outgoing) : await wait(outgoing);
      const timer = setTimeout(() => {
        one.isLong = true;
        fill();
      }, turn).unref();
      try {
        // Others may have failed while it waited.
        refuseSpent(outgoing);
        return await work(one.end.signal);
      } catch (error) {
        if (!(error instanceof HostFailing)) noteFailure(one, error);
        throw error;
      } finally {
        clearTimeout(timer);
        running.delete(one);
        fill(one.taker);
      }
    },

    load: () => ({
      running: running.size,
      waiting: [...waiting.values()].reduce((sum, { length }) => sum + length, 0),
    }),
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;
