import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { createLatestUsed } from './latest-used.ts';

/** Nothing was sent: there was no place for it. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** Nothing was sent: too much of what was sent to this host has failed. */
export class HostFailing extends Error {
  override readonly name = 'HostFailing';
}

export interface Outgoing {
  address: string;
  /** Who asks for it. */
  asker: string;
  /** Where it asks from: free places go round these, and one has as many places as an asker. Default: the asker */
  site?: string;
  /** What fails at its host does not stop it. */
  isKnown: boolean;
  /** It may use the places that strangers can't take. Default: where it is known */
  hasOwnPlaces?: boolean;
  /** Aborted once the asker has hung up. Default: it never does */
  gone?: AbortSignal | undefined;
}

export interface SchedulerOptions {
  /** Counts the minutes after failures. Default: of this machine */
  monotonic?: Clock | undefined;
  /** At once. */
  places: number;
  /** How many of them are for what is known. Default: 0 */
  placesOfKnown?: number;
  /**
   * How many of one asker, and of one site, run, and how many more of an asker wait; of a site, {@link ASKERS_OF_SITE}
   * times as many wait, and join what runs. Default: any number
   */
  perAsker?: number | undefined;
  /** How long one waits for a place. */
  patience: Milliseconds;
  /** Of what failed: whether its host took too long. */
  isLate(error: unknown): boolean;
}

export const PLACES_OF_HOST = 2;
/** That wait. Each holds a connection, and no connection of one is cut. */
export const ASKERS_OF_SITE = 8;
/** Once so many wait, one of a site does: many sites together would hold every connection of the process. */
export const CROWD = 100;
/** In {@link WINDOW}. */
export const FAILURES_OF_HOST = 20;
const WINDOW: Milliseconds = 60_000;
/** So nobody waits much longer for a place of somebody who takes many. Most responses take a tenth of it. */
export const TURN: Milliseconds = 1_000;
/** Of place time, in {@link WINDOW}: one fetch of a host that is there is ended for nobody, however slow. */
export const SHARE_OF_SITE: Milliseconds = 5_000;
/** Of sites, and of hosts that are there. */
const MOST_KEPT = 1_000;
/** More than all links together ask for in {@link WINDOW}: nobody makes up hosts until one that fails is forgotten. */
const MOST_FAILING = 10_000;

/** What a work is given with its place. */
export interface Turn {
  /** Its place is for somebody else. */
  signal: AbortSignal;
  /** The work calls it once its host has shown that it is there. */
  onConnected(): void;
}

type Asked = Outgoing & Record<'site' | 'host' | 'port', string> & { work: unknown };

interface Running extends Asked {
  /** Sites that wait for it, the one that has the place first: since when, and by how many requests. */
  askers: Map<string, { since: Milliseconds; requests: number }>;
  /** When each site first asked for it: who hangs up and asks again has no second turn. */
  firstAsked: Map<string, Milliseconds>;
  isConnected: boolean;
  end: AbortController;
  result: Promise<unknown>;
}

type Waiting = Asked & { enter(): void };

/** How often something happened in {@link WINDOW}, by host, up to {@link FAILURES_OF_HOST} times. */
function createCounts(monotonic: Clock) {
  const times = createLatestUsed<Milliseconds[]>(MOST_FAILING);
  const recent = (host: string) =>
    (times.use(host) ?? []).filter((time) => monotonic() < time + WINDOW);
  return {
    of: (host: string) => recent(host).length,
    add: (host: string) => times.set(host, [...recent(host), monotonic()].slice(-FAILURES_OF_HOST)),
  };
}

const timeSince = (time: Milliseconds) => performance.now() - time;

/** How long each site had places, less what {@link WINDOW} lets it have: {@link SHARE_OF_SITE}. */
function createUses() {
  const noted = createLatestUsed<{ used: Milliseconds; at: Milliseconds }>(MOST_KEPT);
  function of(site: string): Milliseconds {
    const { used, at } = noted.use(site) ?? { used: 0, at: 0 };
    return Math.max(0, used - (timeSince(at) * SHARE_OF_SITE) / WINDOW);
  }
  return {
    of,
    add(site: string, time: Milliseconds): void {
      // So it is as any other again two minutes later.
      const used = Math.min(2 * SHARE_OF_SITE, of(site) + time);
      noted.set(site, { used, at: performance.now() });
    },
  };
}

const mayTakeAll = ({ isKnown, hasOwnPlaces = isKnown }: Outgoing) => hasOwnPlaces;

/** What runs at once towards hosts that strangers name, so that none of them can hold up another, a host or this process. */
export function createScheduler({
  monotonic = () => performance.now(),
  places,
  placesOfKnown = 0,
  perAsker = Number.POSITIVE_INFINITY,
  patience,
  isLate,
}: SchedulerOptions) {
  const running = new Set<Running>();
  /** Whose site has waited for the longest time comes first. */
  let waiting: Waiting[] = [];
  let again: NodeJS.Timeout | undefined;
  const failedAtHost = createCounts(monotonic);
  const lateAtHost = createCounts(monotonic);
  const uses = createUses();
  /** At which ports a host was there when it was last asked, of those that not everybody can make up. */
  const portsOf = createLatestUsed<Set<string>>(MOST_KEPT);
  const isThere = ({ host, port }: Asked): boolean => portsOf.use(host)?.has(port) ?? false;

  const isSpent = ({ host, isKnown }: Asked): boolean =>
    !isKnown && failedAtHost.of(host) >= FAILURES_OF_HOST;

  /** Or it is refused: nobody waits for that. */
  function isFree(asked: Asked, among: readonly Running[] = [...running]): boolean {
    const { host, site } = asked;
    if (isSpent(asked)) return true;
    const countOf = (isCounted: (one: Running) => boolean) => among.filter(isCounted).length;
    const ofHost = lateAtHost.of(host) === 0 ? PLACES_OF_HOST : 1;
    return (
      among.length < places &&
      (mayTakeAll(asked) || countOf((one) => !mayTakeAll(one)) < places - placesOfKnown) &&
      countOf((one) => one.host === host) < ofHost &&
      // Who has a /48 has 65,536 askers. What nobody waits for any more is still of who began it.
      countOf((one) => (one.askers.keys().next().value ?? one.site) === site) < perAsker
    );
  }

  function noteConnection(one: Running): void {
    one.isConnected = true;
    const ports = portsOf.use(one.host) ?? new Set();
    if (mayTakeAll(one)) portsOf.set(one.host, ports.add(one.port));
  }

  function noteFailure({ end, askers, host, port, isConnected }: Running, error: unknown): void {
    const { aborted } = end.signal;
    // Those who waited for it might have had it a moment later.
    if (aborted && askers.size > 0) return;
    failedAtHost.add(host);
    if (aborted || !isLate(error)) return;
    lateAtHost.add(host);
    if (!isConnected) portsOf.use(host)?.delete(port);
  }

  const asksOf = (site: string) => [...running].flatMap(({ askers }) => askers.get(site) ?? []);

  /** Of requests that wait for a place, or for what runs. */
  function mostOfSite(): number {
    if (!Number.isFinite(perAsker)) return perAsker;
    const joined = [...running].flatMap(({ askers }) => [...askers.values()]);
    const all = joined.reduce((sum, { requests }) => sum + requests, waiting.length);
    return all < CROWD ? ASKERS_OF_SITE * perAsker : 1;
  }

  const usedBy = (site: string): Milliseconds =>
    asksOf(site).reduce((sum, { since }) => sum + timeSince(since), uses.of(site));

  function join(one: Running, { site, gone }: Asked): void {
    const asker = one.askers.get(site) ?? { since: performance.now(), requests: 0 };
    asker.requests += 1;
    one.askers.set(site, asker);
    one.firstAsked.set(site, one.firstAsked.get(site) ?? asker.since);
    gone?.addEventListener('abort', () => {
      asker.requests -= 1;
      if (asker.requests > 0 || !running.has(one)) return;
      one.askers.delete(site);
      uses.add(site, timeSince(asker.since));
    });
  }

  /**
   * Whether one who waits has a place once what is ended has left: if need be, what nobody waits for any more, or what all
   * its askers have had for a turn, if it is at a silent host or all have used far more; first of those that have used the
   * most. So nobody loses what it has joined sooner than what it begins, but where that began two turns ago. A silent
   * port gives way to another one at once.
   */
  function makeRoom(asked: Asked): boolean {
    const staying = [...running].filter(({ end }) => !end.signal.aborted);
    if (isFree(asked, staying)) return true;
    const share = usedBy(asked.site) + SHARE_OF_SITE;
    const hadTurn = ({ askers, firstAsked }: Running) =>
      // One that many join, each in time, would have its place for them all.
      [...firstAsked.values()].some((first) => timeSince(first) >= 2 * TURN) ||
      [...askers.keys()].every((site) => timeSince(firstAsked.get(site) ?? 0) >= TURN);
    const isInWay = (one: Running) => one.host === asked.host && !isThere(one) && isThere(asked);
    const without = (one: Running) => staying.filter((other) => other !== one);
    const ended = staying
      .filter((one) => hadTurn(one) || isInWay(one))
      .map((one) => ({ one, used: Math.min(...[...one.askers.keys()].map(usedBy)) }))
      .filter(({ one, used }) => used > share || !one.isConnected)
      .sort((first, second) => second.used - first.used)
      .find(({ one }) => isFree(asked, without(one)));
    ended?.one.end.abort();
    return ended !== undefined;
  }

  /** Lets in who waits and finds a place, first who has used the least. If there is none, ends what it may. */
  function fill(): void {
    clearTimeout(again);
    // All at once: many may wait for a host that has failed too often.
    for (const one of waiting.filter(isSpent)) one.enter();
    if (waiting.length === 0) return;
    // In whole turns: who has used about as much goes round.
    const line = waiting
      .map((one) => ({ one, turns: Math.floor(usedBy(one.site) / TURN) }))
      .sort((first, second) => first.turns - second.turns)
      .map(({ one }) => one);
    const first = line.find((one) => isFree(one));
    // Anybody can ask a host at 65,535 ports.
    const isBefore = (one: Asked) => one.host === first?.host && isThere(one);
    const next = line.find((one) => isBefore(one) && isFree(one)) ?? first;
    if (next === undefined) {
      line.some(makeRoom);
      again = setTimeout(fill, TURN / 10);
    } else {
      next.enter();
      fill();
    }
  }

  /** @param enter - throws, or takes the place before anybody else can come */
  function wait<Result>(asked: Asked, enter: () => Promise<Result>): Promise<Result> {
    const ofSite = waiting.filter(({ site }) => site === asked.site);
    const ofAsker = ofSite.filter(({ asker }) => asker === asked.asker);
    if (ofAsker.length >= perAsker || ofSite.length >= mostOfSite()) throw new NoPlace();
    return new Promise((resolve, reject) => {
      const one = {
        ...asked,
        enter() {
          stop();
          resolve(enter());
        },
      };
      function stop() {
        clearTimeout(timer);
        waiting = waiting.filter((other) => other !== one);
      }
      function giveUp() {
        stop();
        reject(new NoPlace());
      }
      const timer = setTimeout(giveUp, patience);
      asked.gone?.addEventListener('abort', giveUp);
      waiting.push(one);
      fill();
    });
  }

  async function follow<Result>(one: Running, work: (turn: Turn) => Promise<Result>) {
    try {
      return await work({ signal: one.end.signal, onConnected: () => noteConnection(one) });
    } catch (error) {
      noteFailure(one, error);
      throw error;
    } finally {
      running.delete(one);
      for (const [site, { since }] of one.askers) uses.add(site, timeSince(since));
      fill();
    }
  }

  function begin(asked: Asked, work: (turn: Turn) => Promise<unknown>): Running {
    if (isSpent(asked)) throw new HostFailing();
    const one: Running = {
      ...{ ...asked, askers: new Map(), firstAsked: new Map(), end: new AbortController() },
      ...{ isConnected: false, result: Promise.resolve() },
    };
    running.add(one);
    one.result = follow(one, work);
    const ofSite = (other: Asked) => other.site === asked.site;
    waiting = [...waiting.filter((other) => !ofSite(other)), ...waiting.filter(ofSite)];
    return one;
  }

  type Shared = Pick<Asked, 'address' | 'work'>;
  const isSame = (one: Shared, other: Shared) =>
    one.address === other.address && one.work === other.work;
  const begunFor = (shared: Shared) =>
    [...running].find((one) => isSame(one, shared) && !one.end.signal.aborted);

  return {
    /**
     * Who asks for an address and a work that run joins them.
     *
     * @param work - its place is that of others once it has ended, so it ends soon after the signal
     * @throws NoPlace, HostFailing, or what the work throws: then it has failed
     */
    async run<Wanted extends Outgoing, Result>(
      outgoing: Wanted,
      work: (outgoing: Wanted, turn: Turn) => Promise<Result>,
    ): Promise<Result> {
      const { address, asker, site = asker, gone } = outgoing;
      const { hostname: host, port } = new URL(address);
      const asked = { ...outgoing, site, host, port, work };
      async function enter(): Promise<Result> {
        const begun = begunFor(asked);
        const requests = asksOf(site).reduce((sum, one) => sum + one.requests, 0);
        if (begun !== undefined && requests >= mostOfSite()) throw new NoPlace();
        const one = begun ?? begin(asked, (turn) => work(outgoing, turn));
        join(one, asked);
        const same = waiting.filter((other) => isSame(other, asked));
        if (begun === undefined) for (const other of same) other.enter();
        return one.result as Promise<Result>;
      }
      if (gone?.aborted) throw new NoPlace();
      return begunFor(asked) || isFree(asked) ? enter() : wait(asked, enter);
    },

    isRunning: (shared: Shared): boolean => begunFor(shared) !== undefined,

    load: () => ({ running: running.size, waiting: waiting.length }),
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;
