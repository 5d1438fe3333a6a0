/// <reference path="./rate-limiter-flexible.d.ts" />
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js';
import RateLimiterStoreAbstract from 'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js';
import type { Clock } from '../clock.ts';
import type { WindowCount } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { RateLimit, RateLimitName } from './rate-limit-setting.ts';

/**
 * A limiter of `rate-limiter-flexible` that counts in our store, whichever it is. The two methods
 * are what the package asks of a store; those of reading and deleting nobody calls.
 */
export class StoreRateLimiter extends RateLimiterStoreAbstract {
  readonly #store: Pick<Store, 'addToCount'>;
  readonly #clock: Clock;

  constructor(
    store: Pick<Store, 'addToCount'>,
    clock: Clock,
    name: RateLimitName,
    { limit, seconds }: RateLimit,
  ) {
    // The window is part of the key: after a change of the setting nobody waits for an old one.
    super({
      storeClient: store,
      keyPrefix: `${name}/${seconds}`,
      points: limit,
      duration: seconds,
    });
    this.#store = store;
    this.#clock = clock;
  }

  _upsert(key: string, points: number, duration: number): Promise<WindowCount> {
    return this.#store.addToCount({ key, points, now: this.#clock(), duration });
  }

  _getRateLimiterRes(_key: string, added: number, { count, ends_at }: WindowCount): RateLimiterRes {
    const remaining = Math.max(this.points - count, 0);
    return new RateLimiterRes(remaining, ends_at - this.#clock(), count, count === added);
  }
}
