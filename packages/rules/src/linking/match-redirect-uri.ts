import type { Claimed } from '@latchkey/domain/claimed';

// Scheme and loopback host as written; the port; the rest.
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{0,5}))?((?:[/?].*)?)$/is;

/** As it is registered: of a loopback host, every port is the same. */
export const withoutPort = (uri: string): string => uri.replace(LOOPBACK, '$1$3');

/** Native programs listen on any port, so a loopback port may differ (RFC 8252, section 7.3). */
export function matchesRedirectUri(known: Claimed<string>, asked: Claimed<string>): boolean {
  // A comparison leads nobody there, whoever vouches for it.
  const [registered, given] = [known as string, asked as string];
  if (given === registered) return true;
  const hasEmptyPort = LOOPBACK.exec(given)?.[2] === '';
  return !hasEmptyPort && withoutPort(given) === withoutPort(registered);
}
