import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { createLatestUsed } from '../outbound/latest-used.ts';
import {
  HostFailing,
  NoPlace,
  type Outgoing,
  type Scheduler,
  type Turn,
} from '../outbound/scheduler.ts';
import type { VouchedAddress } from '../vouchers.ts';
import { DocumentFailure, isFinal } from './faults.ts';
import type { Fetched } from './fetch-json.ts';

const FETCHED_AGAIN_AFTER: Milliseconds = 5_000;
const FAILURES_A_MINUTE = 10;
const MINUTE: Milliseconds = 60_000;
const REFRESHED_AGAIN_AFTER = MINUTE;
/** The good one, after its time, while each fetch fails temporarily. */
export const SERVED_LATE: Milliseconds = 86_400_000;

/** Of each kind: good ones, by whether the operator vouches for them or they are known, and addresses that fail. */
const KEPT = 1_000;

export const fetchResults = ['good', 'temporary', 'final', 'no_place', 'kept'] as const;

/** `kept` beside `temporary`: an earlier one took its place. */
export type FetchResult = (typeof fetchResults)[number];

/** Known if it has an application, or the setting names it: not everybody can make such an address. */
export interface Wanted<Value> extends VouchedAddress, Omit<Outgoing, 'address'> {
  /** What the database has, to be served late as if it were here. Null: another process may have ended it. */
  kept?: Late<Value> | null | undefined;
  /** Ends what the database has of it. Default: nothing */
  end?: (() => Promise<void>) | undefined;
}

/** A good one that may be over its time. */
interface Late<Value> {
  value: Value;
  until: Milliseconds;
}

/** Where it is kept. */
type Place = Pick<Wanted<unknown>, 'address' | 'isKnown' | 'voucher'>;

interface Good<Value> extends Late<Value> {
  /** Of the body that it was read from. */
  bytes: number;
}

interface Failed {
  error: DocumentFailure;
  /** The latest ones. */
  times: Milliseconds[];
}

/**
 * What was read at addresses, with at most one fetch at a time for each. Strangers can make addresses:
 * those push out only each other.
 *
 * @param fetch - throws a DocumentFailure
 * @param read - throws a DocumentFailure
 */
export function createKeptResponses<Value, From extends Fetched = Fetched>({
  clock,
  monotonic = () => performance.now(),
  scheduler,
  fetch,
  read,
  onResult = () => {},
  most = KEPT,
  mostBytesOfStrangers = null,
  servesLateWithoutPlace = false,
  isTheSameForAll = false,
}: {
  clock: Clock;
  monotonic?: Clock | undefined;
  scheduler: Scheduler;
  fetch(wanted: Wanted<Value>, turn: Turn): Promise<From>;
  read(from: VouchedAddress, fetched: From): Value;
  onResult?(result: FetchResult): void;
  most?: number;
  /**
   * Of the bodies of all whose address the operator does not vouch for. Those have a bound of their own then, also
   * where they are known. Default: any number
   */
  mostBytesOfStrangers?: number | null;
  /** Whether all good ones are served after their time also where a fetch finds no place. Default: vouched ones alone */
  servesLateWithoutPlace?: boolean;
  /**
   * Whether it is read by the same rules, whoever vouches. Then a stranger's client that names the same address as a
   * vouched one brings new ones for both, and takes none away. Default: false
   */
  isTheSameForAll?: boolean;
}) {
  const vouched = createLatestUsed<Good<Value>>(most);
  const known = createLatestUsed<Good<Value>>(most);
  const others = createLatestUsed<Good<Value>>(most, {
    most: mostBytesOfStrangers ?? Number.POSITIVE_INFINITY,
    of: ({ bytes }) => bytes,
  });
  const groups = [vouched, known, others];
  const failed = createLatestUsed<Failed>(most);
  const refreshed = createLatestUsed<Milliseconds>(most);

  function goodOf(place: Place): Good<Value> | null {
    // Other rules have read what was vouched for, until it was unpinned.
    const ofRules = place.voucher === 'operator' || isTheSameForAll ? groups : [known, others];
    const [good] = ofRules.flatMap((group) => group.use(place.address) ?? []);
    if (good !== undefined) setGood(place, good);
    return good ?? null;
  }

  /** The first approval makes a known address of another. */
  function setGood({ address, isKnown, voucher }: Place, good: Good<Value> | null): void {
    const isVouched =
      voucher === 'operator' || (isTheSameForAll && vouched.use(address) !== undefined);
    for (const group of groups) group.delete(address);
    if (good === null) return;
    const ofStrangers = isKnown && mostBytesOfStrangers === null ? known : others;
    (isVouched ? vouched : ofStrangers).set(address, good);
  }

  const isServed = <One extends Late<Value>>(good: One | null, late = 0): good is One =>
    good !== null && clock() < good.until + late;

  /** The latest one, here or in the database, while it is served. */
  function lateOf(wanted: Wanted<Value>): Late<Value> | null {
    const { kept } = wanted;
    const own = kept === null ? null : goodOf(wanted);
    const latest = kept && (own === null || kept.until > own.until) ? kept : own;
    return isServed(latest, SERVED_LATE) ? latest : null;
  }

  /** Also for newer ones. */
  type Search = Wanted<Value> & { isSearch?: true };

  async function load(wanted: Search, turn: Turn): Promise<Value> {
    const { address, isSearch } = wanted;
    if (isSearch) refreshed.set(address, monotonic());
    try {
      const fetched = await fetch(wanted, turn);
      const value = read(wanted, fetched);
      const { body, keep } = fetched;
      setGood(wanted, { value, until: clock() + keep, bytes: body.length });
      onResult('good');
      return value;
    } catch (error) {
      if (turn.signal.aborted) {
        // For others who wait: it may be good a moment later.
        refreshed.delete(address);
        onResult('no_place');
      } else if (error instanceof DocumentFailure) noteFailure(wanted, error);
      throw error;
    }
  }

  function noteFailure(wanted: Wanted<Value>, error: DocumentFailure): void {
    const times = failed.use(wanted.address)?.times ?? [];
    failed.set(wanted.address, { error, times: [...times, monotonic()].slice(-FAILURES_A_MINUTE) });
    if (!error.isTemporary) setGood(wanted, null);
    onResult(error.isTemporary ? 'temporary' : 'final');
    if (error.isTemporary && lateOf(wanted) !== null) onResult('kept');
  }

  /** @throws why there is nothing new */
  const fetchOnce = (wanted: Search): Promise<Value> =>
    scheduler.run(wanted, load).catch((error: unknown) => {
      if (error instanceof NoPlace || error instanceof HostFailing) onResult('no_place');
      throw error;
    });

  /** @throws the latest failure where it is too early to look again */
  function checkPause(address: string): void {
    const failure = failed.use(address);
    if (failure === undefined) return;
    const { error, times } = failure;
    const now = monotonic();
    const latest = times.at(-1) ?? Number.NEGATIVE_INFINITY;
    const count = times.filter((time) => now < time + MINUTE).length;
    if (now < latest + FETCHED_AGAIN_AFTER || count >= FAILURES_A_MINUTE) throw error;
  }

  return {
    /** The good one serves no more. */
    end(place: Place): void {
      setGood(place, null);
    },

    /** Forgets it, good or bad. */
    forget(place: Place): void {
      setGood(place, null);
      failed.delete(place.address);
    },

    /** The last good one in its time, or, if it may be late, until a day after it. Nothing is fetched. */
    peek(wanted: Place, { mayBeLate = false } = {}): Value | null {
      const good = goodOf(wanted);
      return isServed(good, mayBeLate ? SERVED_LATE : 0) ? good.value : null;
    },

    /** What is there now, or was less than a minute ago; null if there is nothing. */
    async refresh(wanted: Wanted<Value>): Promise<Value | null> {
      const last = refreshed.use(wanted.address) ?? Number.NEGATIVE_INFINITY;
      const isEarly = monotonic() < last + REFRESHED_AGAIN_AFTER;
      if (isEarly && !scheduler.isRunning({ ...wanted, work: load })) return this.peek(wanted);
      return fetchOnce({ ...wanted, isSearch: true }).catch((error: unknown) => {
        if (isNoResponse(error)) return null;
        throw error;
      });
    },

    /** @throws NoPlace, HostFailing or DocumentFailure if there is nothing */
    async find(wanted: Wanted<Value>): Promise<Value> {
      const good = goodOf(wanted);
      if (isServed(good)) return good.value;
      try {
        checkPause(wanted.address);
        return await fetchOnce(wanted);
      } catch (error) {
        const isVouched = wanted.voucher === 'operator';
        const mayBeLate = servesLateWithoutPlace || isVouched || !(error instanceof NoPlace);
        const late = isFinal(error) || !mayBeLate ? null : lateOf(wanted);
        if (late === null) throw error;
        return late.value;
      }
    },
  };
}

export const isNoResponse = (error: unknown): error is Error =>
  [NoPlace, HostFailing, DocumentFailure].some((kind) => error instanceof kind);
