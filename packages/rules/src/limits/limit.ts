import { isIP, SocketAddress } from 'node:net';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { WindowCount } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { LimitName, RateLimit } from './rate-limit-setting.ts';
import { RateLimited } from './rate-limited.ts';

export interface Limit {
  count(key: string): void;
  check(key: string): void;
  isReached(key: string): boolean;
  giveBack(key: string): void;
}

export type OnRefusal = (key: string, isFirst: boolean) => void;

interface Count {
  shared: number | null;
  own: number;
  endsAt: Milliseconds;
  refused: boolean;
}

// Sharing each call below the limit would cost a write a second for each key in use.
const UNSHARED_SHARE = 0.01;

// About 200 bytes each. Clients that invent addresses evict the oldest keys, whose counts stay in
// the store.
const MAX_KEYS = 20_000;

// The most that a flood of addresses costs the store in a second.
const MAX_SHARED_PER_ROUND = 512;
const MAX_CONCURRENT_WRITES = 32;

/** The limit applies to the shared count as last read plus the calls since. */
export class SharedLimit implements Limit {
  readonly #name: LimitName;
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #store: Pick<Store, 'addToCount'>;
  readonly #onRefusal: OnRefusal;
  readonly #counts = new Map<string, Count>();

  constructor(
    name: LimitName,
    limit: RateLimit,
    { store, clock }: { store: Pick<Store, 'addToCount'>; clock: Clock },
    onRefusal: OnRefusal,
  ) {
    this.#name = name;
    this.#limit = limit;
    this.#clock = clock;
    this.#store = store;
    this.#onRefusal = onRefusal;
  }

  count(key: string): void {
    const now = this.#clock();
    const count = this.#checked(key, now) ?? this.#start(key, now);
    count.own += 1;
  }

  check(key: string): void {
    this.#checked(key, this.#clock());
  }

  isReached(key: string): boolean {
    const count = this.#counts.get(key);
    return count !== undefined && count.endsAt > this.#clock() && this.#isReached(count);
  }

  giveBack(key: string): void {
    const count = this.#counts.get(key);
    if (count !== undefined) count.own -= 1;
  }

  async share(which: 'due' | 'all'): Promise<void> {
    const now = this.#clock();
    const due: [string, Count][] = [];
    for (const [key, count] of this.#counts) {
      if (count.endsAt <= now) this.#counts.delete(key);
      else if (count.own !== 0 && (which === 'all' || this.#isDue(count))) due.push([key, count]);
    }
    due.sort(([, a], [, b]) => b.own - a.own).splice(MAX_SHARED_PER_ROUND);
    while (due.length > 0) {
      const some = due.splice(0, MAX_CONCURRENT_WRITES);
      const shared = await Promise.allSettled(some.map(([key, count]) => this.#share(key, count)));
      const failure = shared.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }
  }

  async #share(key: string, count: Count): Promise<void> {
    const { own } = count;
    const { seconds } = this.#limit;
    const now = this.#clock();
    const shared: WindowCount = await this.#store.addToCount({
      // The key has the length of the window, so that a changed setting starts a new count.
      key: `${this.#name}/${seconds}:${key}`,
      points: own,
      now,
      // A new shared window ends with this process's window, even if it is shared later.
      duration: Math.max(1, count.endsAt - now),
    });
    count.own -= own;
    count.shared = shared.count;
    count.endsAt = shared.ends_at;
  }

  #isReached({ shared, own }: Count): boolean {
    return (shared ?? 0) + own >= this.#limit.limit;
  }

  // The first call reads the counts of other processes. Reaching the limit is shared at once.
  #isDue(count: Count): boolean {
    return (
      count.shared === null ||
      Math.abs(count.own) >= UNSHARED_SHARE * this.#limit.limit ||
      this.#isReached(count)
    );
  }

  /** @returns undefined if its window is over */
  #checked(key: string, now: Milliseconds): Count | undefined {
    const count = this.#counts.get(key);
    if (count === undefined || count.endsAt <= now) return undefined;
    // The window may have started while this clock was ahead.
    count.endsAt = Math.min(count.endsAt, now + this.#limit.seconds * 1000);
    if (!this.#isReached(count)) return count;
    this.#onRefusal(key, !count.refused);
    count.refused = true;
    throw new RateLimited(this.#name, this.#limit, count.endsAt - now);
  }

  #start(key: string, now: Milliseconds): Count {
    const endsAt = now + this.#limit.seconds * 1000;
    const count: Count = { shared: null, own: 0, endsAt, refused: false };
    putNewest(this.#counts, key, count, MAX_KEYS);
    return count;
  }
}

/** Into a map with a bound, whose first entry is always the oldest. */
export function putNewest<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as string);
}

/** An IPv6 address counts by its /64: networks assign no smaller range to a customer. A site has a /48. */
export function addressKey(address: string | undefined, bits: 48 | 64 = 64): string {
  // A link-local address may have a zone, and a key of a /64 says so.
  const [bare = ''] = (address ?? '').split(/[%/]/);
  const plain = isIP(bare) === 0 ? SocketAddress.parse(bare)?.address : bare;
  if (plain === undefined) return 'unknown';
  if (isIP(plain) === 4) return plain;
  const groups = groupsOf(plain);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  return `${groups.slice(0, bits / 16).join(':')}::/${bits}`;
}

function groupsOf(address: string): string[] {
  // URL normalizes an address to its shortest form in hexadecimal (RFC 5952).
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = shortest
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
