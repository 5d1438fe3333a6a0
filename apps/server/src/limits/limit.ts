import type { Clock, Milliseconds } from '../clock.ts';
import type { RateLimit, RateLimitName } from './rate-limit-setting.ts';
import { RateLimited } from './rate-limited.ts';

/** One limit, by keys such as addresses or applications. Answers at once, and asks nobody. */
export interface Limit {
  /**
   * Counts one more.
   *
   * @throws RateLimited where the key has had its limit; that is not counted on
   */
  count(key: string): void;
  /**
   * Counts nothing.
   *
   * @throws RateLimited where the key has had its limit
   */
  check(key: string): void;
  /** Takes back one that was counted. */
  giveBack(key: string): void;
}

/** The count that all processes share: adds to it, and tells what it then is. */
export type AddToShared = (
  key: string,
  points: number,
) => Promise<{ consumedPoints: number; msBeforeNext: Milliseconds }>;

/** Hears of a refusal, and whether it is the first of its key within the window. */
export type OnRefusal = (key: string, first: boolean) => void;

/** What a process knows of a key within the present window. */
interface Count {
  /** The shared count when it was last heard of; null where it was not yet. */
  shared: number | null;
  /** What is not in the shared count yet. */
  own: number;
  endsAt: Milliseconds;
  refused: boolean;
}

// Of a key that stays below, what is not shared yet may be a hundredth of its limit: sharing each
// single one would be a write a second for every key that is in use.
const UNSHARED = 0.01;

// Some 200 bytes each. Callers who make up addresses push the oldest ones out, whose shared counts
// stay, and are heard of again with the first that follows.
const MOST_KEYS = 20_000;

// What a flood of addresses may cost the store: so many writes a second, a few at a time.
const MOST_SHARED = 512;
const SHARED_AT_ONCE = 32;

/**
 * Counts in this process, and shares the counts with the other processes behind the requests. What
 * decides is the shared count as last heard of and what this process has added since.
 */
export class SharedLimit implements Limit {
  readonly #name: RateLimitName;
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #addToShared: AddToShared;
  readonly #onRefusal: OnRefusal;
  readonly #counts = new Map<string, Count>();

  constructor(
    name: RateLimitName,
    limit: RateLimit,
    clock: Clock,
    addToShared: AddToShared,
    onRefusal: OnRefusal,
  ) {
    this.#name = name;
    this.#limit = limit;
    this.#clock = clock;
    this.#addToShared = addToShared;
    this.#onRefusal = onRefusal;
  }

  count(key: string): void {
    this.check(key);
    this.#present(key).own += 1;
  }

  check(key: string): void {
    const now = this.#clock();
    const count = this.#counts.get(key);
    if (count === undefined || count.endsAt <= now || !this.#isReached(count)) return;
    this.#onRefusal(key, !count.refused);
    count.refused = true;
    throw new RateLimited(this.#name, this.#limit, count.endsAt - now);
  }

  giveBack(key: string): void {
    const count = this.#counts.get(key);
    if (count !== undefined) count.own -= 1;
  }

  /**
   * Shares the counts that are due, those with the most to tell first; what is over the most that
   * is shared at a time waits for the next time.
   *
   * @param which - `all` shares what is not due yet, too
   * @throws the first failure of the store, whose counts are then shared the next time
   */
  async share(which: 'due' | 'all'): Promise<void> {
    const now = this.#clock();
    const due: [string, Count][] = [];
    for (const [key, count] of this.#counts) {
      if (count.endsAt <= now) this.#counts.delete(key);
      else if (count.own !== 0 && (which === 'all' || this.#isDue(count))) due.push([key, count]);
    }
    due.sort(([, a], [, b]) => b.own - a.own).splice(MOST_SHARED);
    while (due.length > 0) {
      const some = due.splice(0, SHARED_AT_ONCE);
      const shared = await Promise.allSettled(some.map(([key, count]) => this.#share(key, count)));
      const failure = shared.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }
  }

  async #share(key: string, count: Count): Promise<void> {
    const { own } = count;
    const { consumedPoints, msBeforeNext } = await this.#addToShared(key, own);
    count.own -= own;
    count.shared = consumedPoints;
    count.endsAt = this.#clock() + msBeforeNext;
  }

  #isReached({ shared, own }: Count): boolean {
    return (shared ?? 0) + own >= this.#limit.limit;
  }

  // What a key has in common with other processes, or with one that was here before, is heard of
  // with its first; that it has reached its limit is told them at once.
  #isDue(count: Count): boolean {
    return (
      count.shared === null ||
      Math.abs(count.own) >= UNSHARED * this.#limit.limit ||
      this.#isReached(count)
    );
  }

  #present(key: string): Count {
    const now = this.#clock();
    const known = this.#counts.get(key);
    if (known !== undefined && known.endsAt > now) return known;
    const endsAt = now + this.#limit.seconds * 1000;
    const count: Count = { shared: null, own: 0, endsAt, refused: false };
    // Anew, and so as the last: the first one is always the oldest.
    this.#counts.delete(key);
    this.#counts.set(key, count);
    if (this.#counts.size > MOST_KEYS) {
      const [oldest = ''] = this.#counts.keys();
      this.#counts.delete(oldest);
    }
    return count;
  }
}
