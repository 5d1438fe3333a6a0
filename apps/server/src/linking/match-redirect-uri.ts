// The http: scheme and a host of the user's own machine, as they were written; the port; the rest.
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]{0,5})?((?:[/?].*)?)$/is;

/**
 * Whether a redirect URI is a registered one: equal, character for character. Only the port of a
 * loopback address may differ or be missing, since a program on the user's machine listens on
 * whichever port is free (RFC 8252, section 7.3).
 *
 * @param registered - a URI that was validated when it was registered
 * @param given - whatever was sent
 */
export function matchesRedirectUri(registered: string, given: string): boolean {
  if (given === registered) return true;
  const [, origin, rest] = LOOPBACK.exec(registered) ?? [];
  if (origin === undefined || rest === undefined || !given.startsWith(origin)) return false;
  const end = given.slice(origin.length);
  // The rest begins with no digit, so what is before it can be nothing but a port.
  return end.endsWith(rest) && /^(?::[0-9]{1,5})?$/.test(end.slice(0, end.length - rest.length));
}
