// The parts of URIs as they were written: nothing here normalizes them, but for the case of scheme and host.

/** The hosts of RFC 8252, section 7.3: a program on the user's own machine listens there. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

// The characters of RFC 3986, section 2, with a percent sign only before two hexadecimal digits.
const URI_CHARACTERS = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;

// The parts of RFC 3986, appendix B.
const URI_PARTS = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(#.*)?$/;

// A registered name, an IPv4 address or an IPv6 address in brackets, and optionally a port.
const AUTHORITY = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::([0-9]{0,5}))?$/;

/** The parts of a URI as they were written, but for the scheme and the host, which are in lower case. */
export interface UriParts {
  scheme: string;
  /** With the brackets of an IPv6 address; null without an authority. */
  host: string | null;
  /** Undefined if there is none. */
  port: string | undefined;
  /** The part between the authority and the query. */
  path: string;
  /** Undefined without a question mark. */
  query: string | undefined;
  /** With its number sign; undefined without one. */
  fragment: string | undefined;
}

/** Returns the parts of a URI without user; null for anything else. */
export function splitUri(text: string): UriParts | null {
  if (!URI_CHARACTERS.test(text)) return null;
  const [, scheme, authority, path = '', query, fragment] = URI_PARTS.exec(text) ?? [];
  if (scheme === undefined) return null;
  const parts = { scheme: scheme.toLowerCase(), path, query, fragment };
  if (authority === undefined) return { ...parts, host: null, port: undefined };
  const [, host, port] = AUTHORITY.exec(authority) ?? [];
  return host === undefined ? null : { ...parts, host: host.toLowerCase(), port };
}

/** Whether a URI is `http:` with a host of the user's own machine. */
export function isLoopback({ scheme, host }: UriParts): boolean {
  return scheme === 'http' && host !== null && LOOPBACK_HOSTS.has(host);
}
