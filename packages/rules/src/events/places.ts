import type { Milliseconds } from '@latchkey/domain/clock';
import { createLatestUsed } from '../outbound/latest-used.ts';

/** What is known of an endpoint that has something due. */
export interface Receiver {
  id: string;
  /** Who has it: the id of an application, or one id for the host. */
  owner: string;
  /** `failing`: its last try failed. `new`: no try of it has ended yet. */
  standing: 'working' | 'failing' | 'new';
}

/** The end of a try. */
export interface TryEnd {
  isDelivered: boolean;
  /** Until the headers of the response, or the failure. */
  duration_ms: Milliseconds;
}

/** Where one try runs. */
export interface Place {
  readonly receiver: Receiver;
  readonly pace: Pace;
  since: number;
}

/** Of a process. */
export const TRY_PLACES = {
  all: 128,
  failing: 16,
  /** The failing ones are among them. */
  slow: 32,
  /** For owners that have few: what they are told waits for nobody who hangs. */
  spared: 32,
  /** Of these, for owners that have none. */
  reserved: 16,
} as const;

/** How many tries of an endpoint that works run at once: at first, and at most. */
export const TRY_PACE = { first: 4, most: 64 } as const;
const QUICK: Milliseconds = 1_000;
/** So many slow tries in a row. */
const SLOW_TRIES = 5;

/** Of its owner, that one leaves a place. The others may have been deleted since. */
const MOST_OTHERS = 4;

/** Endpoints, and owners, that are remembered. */
const REMEMBERED = 10_000;

/** Of an application, or of the host. */
interface Owner {
  /** How many of its endpoints are remembered. */
  endpoints: number;
  /** How many of these have tries. */
  active: number;
  /** How many tries of these run. */
  running: number;
  /** Whose turn is next has the lowest. */
  turn: number;
}

/** How many tries of an endpoint may run at once, and from which ends that follows. */
interface Pace {
  receiver: Receiver;
  owner: Owner;
  running: Set<Place>;
  most: number;
  /** Quick deliveries in a row, since `most` has changed. */
  quick: number;
  /** Slow tries in a row. */
  slow: number;
  isQuick: boolean;
  failedAt: number;
  /** Whose turn is next has the lowest. */
  turn: number;
}

/**
 * The places of a process, so that no endpoint holds up another one.
 *
 * @param now - a clock that never goes back, in milliseconds
 */
export function createPlaces(now: () => number = () => performance.now()) {
  /** Those with tries. */
  const active = new Set<Pace>();
  const paces = createLatestUsed<Pace>(REMEMBERED);
  const owners = createLatestUsed<Owner>(REMEMBERED);
  let turn = 0;

  function ownerOf({ owner: id }: Receiver): Owner {
    const owner = owners.use(id) ?? { endpoints: 0, active: 0, running: 0, turn: 0 };
    owners.set(id, owner);
    return owner;
  }

  function paceOf(receiver: Receiver): Pace {
    const owner = ownerOf(receiver);
    const known = paces.use(receiver.id);
    if (known) return known;
    const pace = {
      ...{ receiver, owner, running: new Set<Place>() },
      ...{ most: TRY_PACE.first, quick: 0, slow: 0, isQuick: false },
      ...{ failedAt: Number.NEGATIVE_INFINITY, turn: 0 },
    };
    owner.endpoints += 1;
    paces.set(receiver.id, pace);
    return pace;
  }

  const mostOf = ({ receiver, most }: Pace) => (receiver.standing === 'working' ? most : 1);

  const isFailing = ({ receiver }: Pace) => receiver.standing === 'failing';

  const isSlow = (pace: Pace) => isFailing(pace) || pace.slow >= SLOW_TRIES;

  /** Those that are still running may be slow already. */
  function isDoubtful(pace: Pace): boolean {
    if (isSlow(pace)) return true;
    const late = [...pace.running].filter(({ since }) => now() - since > QUICK);
    return pace.slow + late.length >= SLOW_TRIES;
  }

  const count = (isCounted: (pace: Pace) => boolean) =>
    [...active].reduce((sum, pace) => sum + (isCounted(pace) ? pace.running.size : 0), 0);

  /** @param isAlone - whether no other owner has something due */
  function freeFor(isAlone: boolean): (pace: Pace) => boolean {
    const free = TRY_PLACES.all - count(() => true);
    const mayFail = count(isFailing) < TRY_PLACES.failing;
    const maySlow = count(isSlow) < TRY_PLACES.slow;
    const mayDoubt = count(isDoubtful) < TRY_PLACES.slow;
    const mostOfOwner = isAlone ? TRY_PLACES.all : TRY_PLACES.all / 2;
    const isTurnOf = ({ owner, running }: Pace) => {
      const isFirst = running.size === 0;
      // One that hangs leaves a place to each of the others.
      const left = isFirst ? 0 : Math.min(owner.endpoints - owner.active, MOST_OTHERS);
      const isWithin = owner.running + left < mostOfOwner;
      if (free > TRY_PLACES.spared) return isWithin;
      const most = Math.max(1, free - TRY_PLACES.reserved);
      return (
        free > 0 && (owner.running < most || (isFirst && isWithin && free > TRY_PLACES.reserved))
      );
    };
    return (pace) =>
      pace.running.size < mostOf(pace) &&
      (mayFail || !isFailing(pace)) &&
      // One that hangs has had its places as a quick one: it takes none of the slow ones from others.
      (isSlow(pace) ? maySlow : mayDoubt || !isDoubtful(pace)) &&
      isTurnOf(pace);
  }

  const byTurn = (one: Pace, other: Pace) =>
    one.owner.turn - other.owner.turn ||
    // One that hangs has no share of what another of its owner could have.
    one.running.size - other.running.size ||
    one.turn - other.turn;

  /** For the one whose turn it is. Null if none of these may begin. */
  function takeOne(among: readonly Pace[], isAlone: boolean): Place | null {
    const isFree = freeFor(isAlone);
    let next: Pace | null = null;
    // Not sorted: thousands may be due.
    for (const pace of among) {
      if (isFree(pace) && (next === null || byTurn(pace, next) < 0)) next = pace;
    }
    if (next === null) return null;
    turn += 1;
    next.turn = turn;
    next.owner.turn = turn;
    next.owner.running += 1;
    if (next.running.size === 0) next.owner.active += 1;
    const place = { receiver: next.receiver, pace: next, since: now() };
    next.running.add(place);
    active.add(next);
    return place;
  }

  return {
    /** @param since - when this began to be found out: a try that has failed since says more */
    learn(receiver: Receiver, since: number): void {
      const pace = paceOf(receiver);
      if (pace.failedAt < since) pace.receiver = receiver;
    },

    /** How many tries of an endpoint may run at once. */
    paceOf: (id: string): number => {
      const pace = paces.use(id);
      return pace ? mostOf(pace) : 1;
    },

    /** Whether as many tries of it run as may. */
    isFull: (id: string): boolean => {
      const pace = paces.use(id);
      return pace !== undefined && pace.running.size >= mostOf(pace);
    },

    /** Whether its last try was delivered at once, so that the next ones may be claimed ahead. */
    isQuick: (id: string): boolean => paces.use(id)?.isQuick ?? false,

    /**
     * Takes places for these, each for the endpoint whose turn it is.
     *
     * @param isAlone - whether no other owner has something due
     * @returns none if no try of these may begin
     */
    take(
      receivers: readonly Receiver[],
      { isAlone, most = TRY_PLACES.all }: { isAlone: boolean; most?: number },
    ): Place[] {
      const among = receivers.map(paceOf);
      const places: Place[] = [];
      while (places.length < most) {
        const place = takeOne(among, isAlone);
        if (place === null) break;
        places.push(place);
      }
      return places;
    },

    /** @param end - null if no try has ended in it */
    leave(place: Place, end: TryEnd | null): void {
      const { pace } = place;
      pace.running.delete(place);
      pace.owner.running -= 1;
      if (pace.running.size === 0) {
        active.delete(pace);
        pace.owner.active -= 1;
      }
      if (end === null) return;
      const isLate = end.duration_ms > QUICK;
      pace.slow = isLate ? pace.slow + 1 : 0;
      pace.isQuick = end.isDelivered && !isLate;
      pace.quick = pace.isQuick ? pace.quick + 1 : 0;
      if (!end.isDelivered) {
        pace.receiver = { ...pace.receiver, standing: 'failing' };
        pace.failedAt = now();
        pace.most = Math.max(1, Math.floor(pace.most / 2));
      } else if (pace.quick >= pace.most && pace.most < TRY_PACE.most) {
        pace.most = Math.min(TRY_PACE.most, pace.most * 2);
        pace.quick = 0;
      }
    },

    get taken(): number {
      return count(() => true);
    },
  };
}

export type Places = ReturnType<typeof createPlaces>;
