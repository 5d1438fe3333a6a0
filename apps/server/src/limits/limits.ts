import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { type Limit, SharedLimit } from './limit.ts';
import { type LimitName, PAGE_ACTIONS, type RateLimits } from './rate-limit-setting.ts';

export interface Limits extends Record<LimitName, Limit> {
  close(): Promise<void>;
}

const SHARE_EVERY_MS = 1_000;

const unlimited: Limit = { count() {}, check() {}, isReached: () => false, giveBack() {} };

export const noLimits: Limits = {
  authentications: unlimited,
  exchanges: unlimited,
  requests: unlimited,
  links: unlimited,
  pages: unlimited,
  async close() {},
};

/** While the store cannot be reached, each process counts alone. */
export function createLimits(
  rateLimits: RateLimits | null,
  { store, clock }: { store: Pick<Store, 'addToCount'>; clock: Clock },
  log: Logger,
  onRefusal: (limit: LimitName) => void,
): Limits {
  if (rateLimits === null) return noLimits;

  const numbers = { ...rateLimits, pages: PAGE_ACTIONS };
  const create = (name: LimitName) =>
    new SharedLimit(name, numbers[name], { store, clock }, (key, isFirst) => {
      onRefusal(name);
      // Once per window: each refused request has its own log line.
      if (isFirst) log.warn({ limit: name, key }, 'a rate limit was reached');
    });
  const limits = {
    authentications: create('authentications'),
    exchanges: create('exchanges'),
    requests: create('requests'),
    links: create('links'),
    pages: create('pages'),
  };

  let alone = false;
  async function share(which: 'due' | 'all'): Promise<void> {
    try {
      for (const limit of Object.values(limits)) await limit.share(which);
      alone = false;
    } catch (err) {
      // Once per outage: the next attempt follows within a second.
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
