/** So many within a window of so many seconds. */
export interface RateLimit {
  limit: number;
  seconds: number;
}

/** What is limited: failed authentications by address, the others by application. */
export type RateLimitName = 'authentications' | 'exchanges' | 'requests';

export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>;

/**
 * Generous: no honest caller comes near them, and what is beyond them is a loop gone wrong or an
 * attack. 300,000 requests a minute are 5,000 a second, of one application.
 */
export const defaultRateLimits: RateLimits = {
  authentications: { limit: 1_000, seconds: 60 },
  exchanges: { limit: 1_000, seconds: 60 },
  requests: { limit: 300_000, seconds: 60 },
};

// A day: a count that is kept for longer is a list of who was there.
const LONGEST_WINDOW = 86_400;

/**
 * Reads `on`, `off`, or limits such as `authentications=100/60,requests=10000/60`: how many in how
 * many seconds. A limit that is not named keeps its default.
 *
 * @returns null for `off`, undefined for what is none of it
 */
export function parseRateLimits(text: string): RateLimits | null | undefined {
  if (text === 'on') return defaultRateLimits;
  if (text === 'off') return null;
  const limits = { ...defaultRateLimits };
  const named = new Set<string>();
  for (const part of text.split(',')) {
    const [, name = '', limit, seconds] = /^([a-z]+)=(\d{1,9})\/(\d{1,5})$/.exec(part) ?? [];
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
