import type { Milliseconds } from '@latchkey/domain/clock';
import { hasPersonalData } from '@latchkey/store/event';
import { HOST_OWNER } from '@latchkey/store/records';
import type { ClaimedDelivery, DueEndpoint } from '@latchkey/store/store';
import { type Place, type Places, type Receiver, TRY_PLACES } from './places.ts';

/** What is to be claimed of an endpoint. */
export interface Wanted {
  id: string;
  most: number;
  places: Place[];
}

/** A try that begins now. */
export interface Beginning {
  claimed: ClaimedDelivery;
  place: Place;
}

interface Waiting {
  claimed: ClaimedDelivery;
  since: number;
}

/** What is claimed of an endpoint and waits for a place. */
interface Line {
  receiver: Receiver;
  waiting: Waiting[];
  /** Whether its last claim got all that it asked for. */
  mayHaveMore: boolean;
  isToldPersonal: boolean;
}

// A claim costs as much as several tries, so the next ones of a quick endpoint are claimed with it.
const LEAST_AHEAD = 12;
/** Then it is claimed anew, with what its endpoint has by then. */
const WAITS_AT_MOST: Milliseconds = 1_000;

/** Whether it may be told was asked at the claim, and may end with any answer: it begins at once, or is claimed anew. */
const isPersonal = ({ delivery: { type, body } }: ClaimedDelivery) => hasPersonalData(type, body);

/**
 * Says what is to be claimed, and keeps what is claimed ahead.
 *
 * @param now - a clock that never goes back, in milliseconds
 */
export function createQueue(places: Places, now: () => number = () => performance.now()) {
  const lines = new Map<string, Line>();
  /** Those who had something due at the last look. */
  let dueOwners: ReadonlySet<string> = new Set();
  /** Those of which nothing could be claimed then. */
  let starved: ReadonlySet<string> = new Set();

  const aheadOf = (id: string) => Math.max(LEAST_AHEAD, places.paceOf(id));
  const waitingLines = () => [...lines.values()].filter(({ waiting }) => waiting.length > 0);
  /** Whether at most one owner has something due. */
  const isAlone = () =>
    dueOwners.size <= 1 &&
    new Set([...dueOwners, ...waitingLines().map(({ receiver }) => receiver.owner)]).size <= 1;

  function remove(isRemoved: (one: Waiting, line: Line) => boolean): ClaimedDelivery[] {
    return [...lines.values()].flatMap((line) => {
      const removed = line.waiting.filter((one) => isRemoved(one, line));
      line.waiting = line.waiting.filter((one) => !removed.includes(one));
      return removed.map(({ claimed }) => claimed);
    });
  }

  return {
    /** The endpoints of which enough is claimed. */
    full: (): string[] =>
      [...lines].flatMap(([id, { waiting }]) => (waiting.length > aheadOf(id) / 2 ? [id] : [])),

    /** Whether a try that has ended leaves room for a claim that may find something. */
    wantsMore(id: string): boolean {
      if ([...starved].some((one) => one === id || !places.isFull(one))) return true;
      const { mayHaveMore = false, waiting = [] } = lines.get(id) ?? {};
      return mayHaveMore && waiting.length <= aheadOf(id) / 2;
    },

    /**
     * What is to be claimed of these. It has the places of those that can begin.
     *
     * @param since - when it began to be found out what is due
     */
    want(due: readonly DueEndpoint[], since: number): Wanted[] {
      const receivers = due.map(({ id, application_id, standing }) => ({
        ...{ id, standing, owner: application_id ?? HOST_OWNER },
      }));
      for (const receiver of receivers) places.learn(receiver, since);
      dueOwners = new Set(receivers.map(({ owner }) => owner));
      const wanted = new Map(
        receivers.map(({ id }) => [id, { id, most: 0, places: [] as Place[] }]),
      );
      for (const [id, { waiting }] of lines) {
        if (waiting.length === 0 && !wanted.has(id)) lines.delete(id);
      }
      for (const place of places.take(receivers, { isAlone: isAlone() })) {
        wanted.get(place.receiver.id)?.places.push(place);
      }
      let ahead =
        TRY_PLACES.all - waitingLines().reduce((sum, { waiting }) => sum + waiting.length, 0);
      for (const one of wanted.values()) {
        const { waiting = [], isToldPersonal = false } = lines.get(one.id) ?? {};
        const mayWait = places.isQuick(one.id) && !isToldPersonal;
        const more = mayWait ? Math.max(0, Math.min(aheadOf(one.id) - waiting.length, ahead)) : 0;
        ahead -= more;
        one.most = one.places.length + more;
      }
      starved = new Set([...wanted.values()].flatMap(({ id, most }) => (most === 0 ? [id] : [])));
      return [...wanted.values()].filter(({ most }) => most > 0);
    },

    /** @returns what begins now; the rest waits */
    put(wanted: readonly Wanted[], claimed: readonly ClaimedDelivery[]): Beginning[] {
      const byEndpoint = Map.groupBy(claimed, ({ endpoint }) => endpoint.id);
      return wanted.flatMap(({ id, most, places: own }) => {
        const of = byEndpoint.get(id) ?? [];
        const [place] = own;
        const receiver = place?.receiver ?? lines.get(id)?.receiver;
        const waiting = lines.get(id)?.waiting ?? [];
        waiting.push(...of.map((claimed) => ({ claimed, since: now() })));
        const mayHaveMore = of.length >= most;
        if (receiver)
          lines.set(id, { receiver, waiting, mayHaveMore, isToldPersonal: of.some(isPersonal) });
        return own.flatMap((place) => {
          const next = waiting.shift();
          if (next) return [{ claimed: next.claimed, place }];
          places.leave(place, null);
          return [];
        });
      });
    },

    /** Of what waits, what may begin. Null: nothing. */
    next(): Beginning | null {
      const receivers = waitingLines().map(({ receiver }) => receiver);
      const [place] = places.take(receivers, { isAlone: isAlone(), most: 1 });
      const first = place && lines.get(place.receiver.id)?.waiting.shift();
      return place && first ? { place, claimed: first.claimed } : null;
    },

    /** Takes out what waits for an endpoint, or for all. */
    clear: (id?: string) => remove((_, line) => id === undefined || line.receiver.id === id),

    /** Takes out what waits for too long. */
    clearLate: () => remove(({ since }) => now() - since >= WAITS_AT_MOST),

    /** Takes out what has personal data. */
    clearPersonal: () => remove(({ claimed }) => isPersonal(claimed)),
  };
}
