import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { type Limit, SharedLimit } from './limit.ts';
import type { RateLimitName, RateLimits } from './rate-limit-setting.ts';
import { StoreRateLimiter } from './store-rate-limiter.ts';

/** The limits of the service. */
export interface Limits extends Record<RateLimitName, Limit> {
  /** Shares what is not shared yet, and ends the sharing. */
  close(): Promise<void>;
}

// How far the processes are behind each other.
const SHARE_EVERY_MS = 1_000;

const unlimited: Limit = { count() {}, check() {}, giveBack() {} };

export const noLimits: Limits = {
  authentications: unlimited,
  exchanges: unlimited,
  requests: unlimited,
  async close() {},
};

/**
 * Puts the limits together. Where the store can't be reached, each process counts alone meanwhile,
 * and shares the more when it is back.
 *
 * @param rateLimits - null for none
 * @param onRefusal - told of every refusal
 */
export function createLimits(
  rateLimits: RateLimits | null,
  { store, clock }: { store: Pick<Store, 'addToCount'>; clock: Clock },
  log: Logger,
  onRefusal: (limit: RateLimitName) => void,
): Limits {
  if (rateLimits === null) return noLimits;

  const create = (name: RateLimitName) => {
    const shared = new StoreRateLimiter(store, clock, name, rateLimits[name]);
    return new SharedLimit(
      name,
      rateLimits[name],
      clock,
      // The package's word for adding without being refused.
      (key, points) => shared.penalty(key, points),
      (key, first) => {
        onRefusal(name);
        // Once a window: each refused request has a line of its own.
        if (first) log.warn({ limit: name, key }, 'a rate limit was reached');
      },
    );
  };
  const limits = {
    authentications: create('authentications'),
    exchanges: create('exchanges'),
    requests: create('requests'),
  };

  let alone = false;
  async function share(which: 'due' | 'all'): Promise<void> {
    try {
      for (const limit of Object.values(limits)) await limit.share(which);
      alone = false;
    } catch (err) {
      // Once for as long as it lasts: it is tried again every second.
      if (!alone) log.warn({ err }, 'the counts of the rate limits could not be shared');
      alone = true;
    }
  }

  let sharing: Promise<void> | null = null;
  const timer = setInterval(() => {
    sharing ??= share('due').finally(() => {
      sharing = null;
    });
  }, SHARE_EVERY_MS).unref();

  return {
    ...limits,
    async close() {
      clearInterval(timer);
      await sharing;
      await share('all');
    },
  };
}
