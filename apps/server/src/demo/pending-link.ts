import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RequestContext } from '../http/request-context.ts';
import type { DemoCookies } from './demo-cookies.ts';

/** A link that the browser has begun and not finished. It is kept in a cookie, so a restart loses none. */
export interface PendingLink {
  /** Ties the response to this browser (RFC 6749, section 10.12). */
  state: string;
  /** Ties the code to this browser (RFC 7636). */
  codeVerifier: string;
}

// As long as a link request can be decided.
const LIFETIME_SECONDS = 3600;

const SHAPE = /^([\w-]{43})\.([\w-]{43})$/;

const randomText = () => randomBytes(32).toString('base64url');

export const newPendingLink = (): PendingLink => ({
  state: randomText(),
  codeVerifier: randomText(),
});

export const challengeOf = ({ codeVerifier }: PendingLink) =>
  hash('sha256', codeVerifier, 'base64url');

/** Links that are begun in several tabs have a cookie each. */
const nameOf = (state: string) => `linking_${state.slice(0, 8)}`;

export function keepPendingLink(
  cookies: DemoCookies,
  { state, codeVerifier }: PendingLink,
): string {
  return cookies.set(nameOf(state), `${state}.${codeVerifier}`, LIFETIME_SECONDS);
}

export const forgetPendingLink = (cookies: DemoCookies, { state }: PendingLink): string =>
  cookies.set(nameOf(state), '', 0);

/** The link that a response belongs to; null if this browser has begun none with this state. */
export function findPendingLink(
  cookies: DemoCookies,
  context: RequestContext,
  state: string,
): PendingLink | null {
  // A cookie's name can't hold just any text.
  if (!/^[\w-]{43}$/.test(state)) return null;
  const [, own, codeVerifier] = SHAPE.exec(cookies.read(context, nameOf(state)) ?? '') ?? [];
  if (own === undefined || codeVerifier === undefined) return null;
  return timingSafeEqual(Buffer.from(own), Buffer.from(state)) ? { state, codeVerifier } : null;
}
