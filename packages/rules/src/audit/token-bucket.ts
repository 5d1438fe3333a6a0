/** Synchronous, because a limiter that returns promises would hold a flood in memory. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perSecond: number;
  #tokens: number;
  #refilledAt = performance.now();

  constructor(limits: { capacity: number; perSecond: number }) {
    this.#capacity = limits.capacity;
    this.#perSecond = limits.perSecond;
    this.#tokens = limits.capacity;
  }

  take(): boolean {
    const now = performance.now();
    const refilled = this.#tokens + ((now - this.#refilledAt) / 1000) * this.#perSecond;
    this.#refilledAt = now;
    this.#tokens = Math.min(this.#capacity, refilled);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

// A bucket takes about 100 bytes. A caller that invents keys evicts the oldest buckets.
const MAX_KEYS = 10_000;

export class SharedTokenBucket {
  readonly #each: { capacity: number; perSecond: number };
  readonly #all: TokenBucket;
  readonly #byKey = new Map<string, TokenBucket>();

  constructor(limits: Record<'each' | 'all', { capacity: number; perSecond: number }>) {
    this.#each = limits.each;
    this.#all = new TokenBucket(limits.all);
  }

  take(key: string): boolean {
    let own = this.#byKey.get(key);
    if (own === undefined) {
      own = new TokenBucket(this.#each);
      this.#byKey.set(key, own);
      const [oldest = ''] = this.#byKey.keys();
      if (this.#byKey.size > MAX_KEYS) this.#byKey.delete(oldest);
    }
    return own.take() && this.#all.take();
  }
}
