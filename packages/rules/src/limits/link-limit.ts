import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { addressKey, type Limit, putNewest } from './limit.ts';
import type { RateLimit } from './rate-limit-setting.ts';

/** If a host approves links without a page of ours, this is the only place that has the address of the user. */
const MAX_BEGUN = 10_000;
const MAX_KNOWN = 10_000;
const KNOWN_FOR: Milliseconds = 86_400_000;

/** One in so many link requests of the common limit is reserved for known addresses. */
const ONE_FOR_KNOWN_OF = 5;

export const forStrangers = ({ limit, seconds }: RateLimit): RateLimit => ({
  limit: limit - Math.floor(limit / ONE_FOR_KNOWN_OF),
  seconds,
});

/** So many sites it takes to use up what strangers have. A line at home often has a /56: 256 addresses of `links`. */
const SITES_OF_STRANGERS = 4;

export const forSite = ({ links, links_total }: Record<'links' | 'links_total', RateLimit>) => ({
  limit: Math.max(links.limit, Math.floor(forStrangers(links_total).limit / SITES_OF_STRANGERS)),
  seconds: links_total.seconds,
});

/** The key of all addresses. */
const ALL = 'all';

interface Parts {
  byAddress: Limit;
  together: Limit;
  /** For all addresses that are not known. */
  strangers: Limit;
  /** For those in a /48, the known and the others apart. */
  bySite: Limit;
}

/** Limits link requests by address and in total. A share of the total is for addresses that had a link approved. */
export class LinkLimit implements Limit {
  readonly #parts: Parts;
  readonly #clock: Clock;
  /** The address that each link request came from. */
  readonly #begun = new Map<string, string>();
  /** When each address last had a link approved. */
  readonly #known = new Map<string, Milliseconds>();

  constructor(parts: Parts, clock: Clock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  begun(link_id: string, address: string): void {
    putNewest(this.#begun, link_id, address, MAX_BEGUN);
  }

  approved(link_id: string): void {
    const address = this.#begun.get(link_id);
    if (address !== undefined) putNewest(this.#known, address, this.#clock(), MAX_KNOWN);
  }

  count(address: string): void {
    this.check(address);
    for (const [limit, key] of this.#limitsOf(address)) limit.count(key);
  }

  check(address: string): void {
    for (const [limit, key] of this.#limitsOf(address)) limit.check(key);
  }

  isReached(address: string): boolean {
    return this.#limitsOf(address).some(([limit, key]) => limit.isReached(key));
  }

  giveBack(address: string): void {
    for (const [limit, key] of this.#limitsOf(address)) limit.giveBack(key);
  }

  /** Each with the key that the link request counts under. */
  #limitsOf(address: string): [limit: Limit, key: string][] {
    const { byAddress, together, strangers, bySite } = this.#parts;
    const approvedAt = this.#known.get(address) ?? Number.NEGATIVE_INFINITY;
    const isKnown = this.#clock() - approvedAt < KNOWN_FOR;
    const site = addressKey(address, 48);
    const all: [Limit, string][] = [
      [byAddress, address],
      [bySite, isKnown ? `known ${site}` : site],
      [together, ALL],
    ];
    return isKnown ? all : [...all, [strangers, ALL]];
  }
}
