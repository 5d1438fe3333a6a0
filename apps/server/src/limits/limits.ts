import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { type Limit, SharedLimit } from './limit.ts';
import type { RateLimitName, RateLimits } from './rate-limit-setting.ts';

export interface Limits extends Record<RateLimitName, Limit> {
  /** Shares all counts a last time. */
  close(): Promise<void>;
}

// How far the counts of the processes may be apart.
const SHARE_EVERY_MS = 1_000;

const unlimited: Limit = { count() {}, check() {}, isReached: () => false, giveBack() {} };

export const noLimits: Limits = {
  authentications: unlimited,
  exchanges: unlimited,
  requests: unlimited,
  links: unlimited,
  async close() {},
};

/**
 * Creates the limits. While the store can't be reached, each process counts alone; it shares its
 * counts when the store is back.
 *
 * @param rateLimits - null turns them off
 * @param onRefusal - called at every refusal
 */
export function createLimits(
  rateLimits: RateLimits | null,
  { store, clock }: { store: Pick<Store, 'addToCount'>; clock: Clock },
  log: Logger,
  onRefusal: (limit: RateLimitName) => void,
): Limits {
  if (rateLimits === null) return noLimits;

  const create = (name: RateLimitName) =>
    new SharedLimit(name, rateLimits[name], { store, clock }, (key, isFirst) => {
      onRefusal(name);
      // Once a window: each refused request has a log line of its own.
      if (isFirst) log.warn({ limit: name, key }, 'a rate limit was reached');
    });
  const limits = {
    authentications: create('authentications'),
    exchanges: create('exchanges'),
    requests: create('requests'),
    links: create('links'),
  };

  let alone = false;
  async function share(which: 'due' | 'all'): Promise<void> {
    try {
      for (const limit of Object.values(limits)) await limit.share(which);
      alone = false;
    } catch (err) {
      // Logged once per outage: the next attempt comes within a second.
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
