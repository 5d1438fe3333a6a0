import type { Clock } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';
import type { Logger } from 'pino';
import { type Limit, SharedLimit } from './limit.ts';
import { forSite, forStrangers, LinkLimit } from './link-limit.ts';
import {
  FAILED_ASSERTIONS,
  type LimitName,
  PAGE_ACTIONS,
  type RateLimits,
} from './rate-limit-setting.ts';

export interface Limits extends Record<Exclude<LimitName, 'links' | 'links_total'>, Limit> {
  readonly links: LinkLimit;
  close(): Promise<void>;
}

const SHARE_EVERY_MS = 1_000;

const unlimited: Limit = { count() {}, check() {}, isReached: () => false, giveBack() {} };

export const noLimits: Limits = {
  authentications: unlimited,
  exchanges: unlimited,
  requests: unlimited,
  links: new LinkLimit(
    { byAddress: unlimited, together: unlimited, strangers: unlimited, bySite: unlimited },
    Date.now,
  ),
  pages: unlimited,
  assertions: unlimited,
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

  const numbers = { ...rateLimits, pages: PAGE_ACTIONS, assertions: FAILED_ASSERTIONS };
  const create = (name: LimitName, rateLimit = numbers[name]) =>
    new SharedLimit(name, rateLimit, { store, clock }, (key, isFirst) => {
      onRefusal(name);
      // Once per window: each refused request has its own log line.
      if (isFirst) log.warn({ limit: name, key }, 'a rate limit was reached');
    });
  const shared = {
    authentications: create('authentications'),
    exchanges: create('exchanges'),
    requests: create('requests'),
    links: create('links'),
    pages: create('pages'),
    assertions: create('assertions'),
  };

  let alone = false;
  async function share(which: 'due' | 'all'): Promise<void> {
    try {
      for (const limit of Object.values(shared)) await limit.share(which);
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

  // Counted in each process: they protect its database, and every link request would share them.
  const together = create('links_total');
  const strangers = create('links_total', forStrangers(numbers.links_total));
  const bySite = create('links', forSite(numbers));

  return {
    ...shared,
    links: new LinkLimit({ byAddress: shared.links, together, strangers, bySite }, clock),
    async close() {
      clearInterval(timer);
      await sharing;
      await share('all');
    },
  };
}
