import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RequestContext } from '../http/request-context.ts';
import type { DemoCookies } from './demo-cookies.ts';
import { type LinkExperiment, linkExperimentOf } from './experiments.ts';

/** Kept in a cookie, so that a restart loses none. */
export interface PendingLink {
  /** Ties the response to this browser (RFC 6749, section 10.12). */
  state: string;
  /** Ties the code to this browser (RFC 7636). */
  codeVerifier: string;
  experiment: LinkExperiment;
}

const LIFETIME_SECONDS = 3600;

const SHAPE = /^([\w-]{43})\.([\w-]{43})\.(\w+)$/;

const randomText = () => randomBytes(32).toString('base64url');

export const newPendingLink = (experiment: LinkExperiment): PendingLink => ({
  state: randomText(),
  codeVerifier: randomText(),
  experiment,
});

export const challengeOf = ({ codeVerifier }: PendingLink) =>
  hash('sha256', codeVerifier, 'base64url');

const nameOf = (state: string) => `linking_${state.slice(0, 8)}`;

export function keepPendingLink(
  cookies: DemoCookies,
  { state, codeVerifier, experiment }: PendingLink,
): string {
  const value = `${state}.${codeVerifier}.${experiment}`;
  return cookies.set(nameOf(state), value, LIFETIME_SECONDS);
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
  const [, own, codeVerifier, word] = SHAPE.exec(cookies.read(context, nameOf(state)) ?? '') ?? [];
  if (own === undefined || codeVerifier === undefined) return null;
  if (!timingSafeEqual(Buffer.from(own), Buffer.from(state))) return null;
  return { state, codeVerifier, experiment: linkExperimentOf(word) };
}
