export interface RateLimit {
  limit: number;
  seconds: number;
}

/** `authentications` (failed ones) and `links` count per address, `links_total` for all of them, the others per application: see `apps/server/src/operations/call-limits.ts`. */
type RateLimitName = 'authentications' | 'exchanges' | 'requests' | 'links' | 'links_total';

export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>;

/** Only a runaway loop or an attack reaches these: 300,000 a minute are 5,000 a second. */
const defaultRateLimits: RateLimits = {
  authentications: { limit: 1_000, seconds: 60 },
  exchanges: { limit: 1_000, seconds: 60 },
  requests: { limit: 300_000, seconds: 60 },
  links: { limit: 300, seconds: 60 },
  // A link request takes at most 6 KiB for four hours, with a document 10 KiB: 8.3 or 13.8 GiB, of which
  // strangers take four fifths.
  links_total: { limit: 6_000, seconds: 60 },
};

/** How often an open page can be used, for each page. Not a setting. */
export const PAGE_ACTIONS: RateLimit = { limit: 120, seconds: 60 };

/** Failed ones of a client with a document and an address together. Not a setting. */
export const FAILED_ASSERTIONS: RateLimit = { limit: 60, seconds: 60 };

export type LimitName = RateLimitName | 'pages' | 'assertions';

export const limitNames: LimitName[] = [
  ...(Object.keys(defaultRateLimits) as RateLimitName[]),
  'pages',
  'assertions',
];

// Counts that are kept for longer than a day would record who used the service.
export const LONGEST_WINDOW = 86_400;

/** Such as `authentications=100/60,requests=10000/60`. Null for `off`, undefined if invalid. */
export function parseRateLimits(text: string): RateLimits | null | undefined {
  if (text === 'on') return defaultRateLimits;
  if (text === 'off') return null;
  const limits = { ...defaultRateLimits };
  const named = new Set<string>();
  for (const part of text.split(',')) {
    const [, name = '', limit, seconds] = /^([a-z_]+)=(\d{1,9})\/(\d{1,5})$/.exec(part) ?? [];
    if (!isName(name) || named.has(name)) return undefined;
    named.add(name);
    limits[name] = { limit: Number(limit), seconds: Number(seconds) };
    if (limits[name].limit < 1) return undefined;
    if (limits[name].seconds < 1 || limits[name].seconds > LONGEST_WINDOW) return undefined;
  }
  return limits;
}

function isName(name: string): name is RateLimitName {
  return Object.hasOwn(defaultRateLimits, name);
}
