/** What an Authorization header says. */
export type Authorization =
  | { scheme: 'bearer'; token: string }
  | { scheme: 'basic'; user: string; password: string };

/**
 * Reads an Authorization header: Bearer (RFC 6750, section 2.1) or Basic (RFC 7617, section 2).
 *
 * @returns null where it is neither
 */
export function parseAuthorization(header: string): Authorization | null {
  const match = /^(bearer|basic) +([^ ]+) *$/i.exec(header);
  const [, scheme, value] = match ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: value };
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon === -1) return null;
  return { scheme: 'basic', user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
