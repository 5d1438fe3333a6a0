import type { Milliseconds } from './clock.ts';

// Why each is as long as it is: `docs/protocol/limits.md#lifetimes`.

const DAY: Milliseconds = 86_400_000;

export const CODE_LIFETIME: Milliseconds = 300_000;

// A clock that is ahead issues codes that live longer by the same time. Processes on NTP are within
// a second of each other; a minute is the bound of `docs/protocol/operations.md#redemption`.
export const MAX_CLOCK_SKEW: Milliseconds = 60_000;

export const RECOVERY_WINDOW: Milliseconds = 2 * CODE_LIFETIME;

/** A link request can be decided for so long. */
export const LINK_LIFETIME: Milliseconds = 3_600_000;

/** Link requests and pages stay after they expire, so that a late user finds the way back. */
export const LINKS_KEPT: Milliseconds = 10_800_000;

/** A ticket opens its page for so long. */
export const TICKET_LIFETIME: Milliseconds = 300_000;

/** A browser may take a ticket again for so long: a double click, a prefetch whose response was thrown away. */
export const REOPENING: Milliseconds = 10_000;

/** A ticket is taken at most so often, so that a page keeps no more hashes. */
export const SESSIONS_OF_TICKET = 8;

/** For so long, a browser that has opened a page and comes back without its cookie is told so. */
export const COOKIE_MISSED: Milliseconds = 300_000;

/** A page of connections is open for so long. */
export const CONNECTIONS_LIFETIME: Milliseconds = 1_800_000;

/** For so long, the end of a link leads to its application by itself. */
export const STARTS_APPLICATION: Milliseconds = 10_000;

/** For the other clicks of a double click, for the button back, and for the link to a denied application. */
export const COOKIE_AFTER_DECISION: Milliseconds = 300_000;

/** Leaves time for the response before the deadline of the request. */
export const PING_WAIT: Milliseconds = 18_000;

/** How long a process has for a try, and how late one may be after a kill. */
export const CLAIM_LASTS: Milliseconds = 60_000;

/** An endpoint whose tries have all failed for so long is disabled. */
export const FAILING_LASTS: Milliseconds = 5 * DAY;

/** How long a delivery is kept after its end. */
export const DELIVERIES_KEPT: Milliseconds = 30 * DAY;

// A grant that is used all the time costs one write a day.
export const USE_NOTED_AFTER: Milliseconds = DAY;

/** How long the counts of an hour are kept. */
export const COUNTS_KEPT: Milliseconds = 31 * DAY;
