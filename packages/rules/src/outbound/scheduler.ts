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
  /** What has run for longer may be ended for one who waits. Default: {@link TURN} */
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
/** So nobody waits much longer for a place of somebody who takes many. Most responses take a tenth of it. */
export const TURN: Milliseconds = 1_000;
/** Of place time, in {@link WINDOW}: one fetch of a host that is there is ended for nobody, however slow. */
export const SHARE_OF_SITE: Milliseconds = 5_000;
/** So a site is as any other again two minutes later. */
const MOST_NOTED = 2 * SHARE_OF_SITE;
/** Of sites. */
const MOST_SITES = 1_000;

/** What a work is given with its place. */
export interface Turn {
  /** Its place is for somebody else. */
  signal: AbortSignal;
  /** The work calls it once its host has shown that it is there. */
  onConnected(): void;
}

interface Running extends Outgoing {
  begun_at: Milliseconds;
  /** It has run for a turn. */
  isLong: boolean;
  isConnected: boolean;
  end: AbortController;
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

/** How long each site had places, less what {@link WINDOW} lets it have: {@link SHARE_OF_SITE}. */
function createUses() {
  /** What was noted last comes last. */
  const noted = new Map<string, { used: Milliseconds; at: Milliseconds }>();
  const left = ({ used, at }: { used: Milliseconds; at: Milliseconds }) =>
    Math.max(0, used - ((performance.now() - at) * SHARE_OF_SITE) / WINDOW);
  function of(site: string): Milliseconds {
    const use = noted.get(site);
    return use === undefined ? 0 : left(use);
  }
  return {
    of,
    add(site: string, time: Milliseconds): void {
      const used = Math.min(MOST_NOTED, of(site) + time);
      noted.delete(site);
      noted.set(site, { used, at: performance.now() });
      for (const [oldest, use] of noted) {
        if (left(use) > 0 && noted.size <= MOST_SITES) break;
        noted.delete(oldest);
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
  const uses = createUses();
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

  function noteFailure({ end, host }: Running, error: unknown): void {
    // It may have needed a moment more.
    if (end.signal.aborted) return;
    failedAtHost.add(host);
    if (isLate(error)) lateAtHost.add(host);
  }

  function enter(outgoing: Outgoing): Running {
    const begun_at = performance.now();
    const one = {
      ...outgoing,
      begun_at,
      isLong: false,
      isConnected: false,
      end: new AbortController(),
    };
    running.add(one);
    return one;
  }

  const hasRun = ({ begun_at }: Running) => performance.now() - begun_at;

  function usedBy(site: string): Milliseconds {
    const own = [...running].filter((one) => siteOf(one) === site);
    return own.reduce((sum, one) => sum + hasRun(one), uses.of(site));
  }

  /**
   * Whether one who waits has a place once what is ended has left: if need be, what has run for a turn and is at a silent
   * host, or of a site that has used far more; first of the one that has used the most.
   */
  function makeRoom(outgoing: Outgoing): boolean {
    const staying = [...running].filter(({ end }) => !end.signal.aborted);
    if (isFree(outgoing, staying)) return true;
    const share = usedBy(siteOf(outgoing)) + SHARE_OF_SITE;
    const ended = staying
      .map((one) => ({ one, used: usedBy(siteOf(one)) }))
      .filter(({ one, used }) => one.isLong && (used > share || !one.isConnected))
      .sort((first, second) => second.used - first.used)
      .find(({ one }) =>
        isFree(
          outgoing,
          staying.filter((other) => other !== one),
        ),
      );
    ended?.one.end.abort();
    return ended !== undefined;
  }

  /**
   * Lets in who waits and finds a place, each site in its turn, first those that have used the least. For the others, it
   * ends what it may.
   */
  function fill(): void {
    // In whole turns: who has used about as much goes round.
    const sites = [...waiting.keys()].map((site) => ({
      site,
      used: Math.floor(usedBy(site) / TURN),
    }));
    const turns = sites.sort((one, other) => one.used - other.used).map(({ site }) => site);
    for (const site of turns) {
      const line = waiting.get(site) ?? [];
      const next = line.findIndex((one) => isFree(one));
      if (next === -1) continue;
      for (const one of line.splice(next, 1)) one.enter();
      waiting.delete(site);
      if (line.length > 0) waiting.set(site, line);
    }
    for (const site of turns) waiting.get(site)?.some(makeRoom);
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
    async run<Result>(outgoing: Outgoing, work: (turn: Turn) => Promise<Result>): Promise<Result> {
      refuseSpent(outgoing);
      const one = isFree(outgoing) ? enter(outgoing) : await wait(outgoing);
      const timer = setInterval(() => {
        one.isLong = true;
        fill();
      }, turn).unref();
      try {
        // Others may have failed while it waited.
        refuseSpent(outgoing);
        const onConnected = () => {
          one.isConnected = true;
        };
        return await work({ signal: one.end.signal, onConnected });
      } catch (error) {
        if (!(error instanceof HostFailing)) noteFailure(one, error);
        throw error;
      } finally {
        clearInterval(timer);
        running.delete(one);
        uses.add(siteOf(one), hasRun(one));
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
