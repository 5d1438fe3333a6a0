import type { Milliseconds } from '@latchkey/domain/clock';
import { isLive, isTextOf, sameHash } from '@latchkey/domain/credentials/credentials';
import type { CredentialHash, SecretRecord } from './values.ts';

// The secrets of an application, and the keys of the operator: in the order in which they were added.

/** Enough to see what was rotated in the last months. */
export const EXPIRED_SECRETS_KEPT = 20;

/** Those that are shown: of the expired ones, those that expired last. */
export function withoutOutdated<Secret extends SecretRecord>(
  secrets: readonly Secret[],
  now: Milliseconds,
): Secret[] {
  const outdated = secrets
    .filter((secret) => !isLive(secret, now))
    .sort((one, other) => (one.expires_at ?? 0) - (other.expires_at ?? 0))
    .slice(0, -EXPIRED_SECRETS_KEPT);
  return secrets.filter((secret) => !outdated.includes(secret));
}

/** Null if there are `most` live ones. */
export function withSecret<Secret extends SecretRecord>(
  secrets: readonly Secret[],
  secret: Secret,
  { most, now }: { most: number; now: Milliseconds },
): Secret[] | null {
  const live = secrets.filter((one) => isLive(one, now));
  return live.length < most ? [...withoutOutdated(secrets, now), secret] : null;
}

/** Never moves the time back. Null if nothing is to be written. */
export function withUse<Secret extends SecretRecord>(
  secrets: readonly Secret[],
  used: string,
  at: Milliseconds,
): Secret[] | null {
  const isNoted = ({ id, last_used_at }: Secret) => id !== used || (last_used_at ?? 0) >= at;
  if (secrets.every(isNoted)) return null;
  return secrets.map((one) => (isNoted(one) ? one : { ...one, last_used_at: at }));
}

/** Whether a session is the one of its page, or waits to come back. */
export function holdsSession(
  {
    session_hash,
    waiting,
  }: { session_hash: CredentialHash | null; waiting: readonly string[] | null },
  hash: CredentialHash,
): boolean {
  if (session_hash !== null) return sameHash(session_hash, hash);
  return (waiting ?? []).some((one) => isTextOf(one, hash));
}
