import type { Claimed } from '@latchkey/domain/claimed';

// Scheme and loopback host as written; the port; the rest.
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]{0,5})?((?:[/?].*)?)$/is;

/** As it is registered: of a loopback host, every port is the same. */
export function withoutPort(uri: string): string {
  const [, origin, rest] = LOOPBACK.exec(uri) ?? [];
  return origin === undefined || rest === undefined ? uri : origin + rest;
}

/** Native programs listen on any port, so a loopback port may differ (RFC 8252, section 7.3). */
export function matchesRedirectUri(registered: string, asked: Claimed<string>): boolean {
  // A comparison leads nobody there, whoever vouches for it.
  const given = asked as string;
  if (given === registered) return true;
  const [, origin, rest] = LOOPBACK.exec(registered) ?? [];
  if (origin === undefined || rest === undefined || !given.startsWith(origin)) return false;
  const end = given.slice(origin.length);
  return end.endsWith(rest) && /^(?::[0-9]{1,5})?$/.test(end.slice(0, end.length - rest.length));
}
