import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RequestContext } from '../http/request-context.ts';
import type { DemoCookies } from './demo-cookies.ts';

/** Kept in a cookie, so that a restart loses none. */
export interface PendingLink {
  /** Ties the response to this browser (RFC 6749, section 10.12). */
  state: string;
  /** Ties the code to this browser (RFC 7636). */
  codeVerifier: string;
}

const LIFETIME_SECONDS = 3600;

const SHAPE = /^([\w-]{43})\.([\w-]{43})$/;

const randomText = () => randomBytes(32).toString('base64url');

export const newPendingLink = (): PendingLink => ({
  state: randomText(),
  codeVerifier: randomText(),
});

export const challengeOf = ({ codeVerifier }: PendingLink) =>
  hash('sha256', codeVerifier, 'base64url');

const nameOf = (state: string) => `linking_${state.slice(0, 8)}`;

export function keepPendingLink(
  cookies: DemoCookies,
  { state, codeVerifier }: PendingLink,
): string {
  return cookies.set(nameOf(state), `${state}.${codeVerifier}`, LIFETIME_SECONDS);
}

export const forgetPendingLink = (cookies: DemoCookies, { state }: PendingLink): string =>
  cookies.set(nameOf(state), '', 0);

export function findPendingLink(
  cookies: DemoCookies,
  context: RequestContext,
  state: string,
): PendingLink | null {
  // A cookie name cannot contain arbitrary text.
  if (!/^[\w-]{43}$/.test(state)) return null;
  const [, own, codeVerifier] = SHAPE.exec(cookies.read(context, nameOf(state)) ?? '') ?? [];
  if (own === undefined || codeVerifier === undefined) return null;
  return timingSafeEqual(Buffer.from(own), Buffer.from(state)) ? { state, codeVerifier } : null;
}
