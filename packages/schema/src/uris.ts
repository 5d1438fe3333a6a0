import { z } from 'zod';

// Every JavaScript runtime has these (WHATWG URL). TypeScript knows them only with the types of one.
declare const URL: { canParse(text: string): boolean };
declare const URLSearchParams: new (query?: string) => { has(name: string): boolean };

// The URIs that an operator registers. They are stored and compared as they were written, so nothing
// here normalizes them.

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

/** Like {@link splitUri}, but null also for a URI that browsers can't parse. */
function splitReadableUri(text: string): UriParts | null {
  const parts = splitUri(text);
  const isReadable = parts !== null && (parts.host === null || URL.canParse(text));
  return isReadable ? parts : null;
}

/** Whether a URI is `http:` with a host of the user's own machine. */
export function isLoopback({ scheme, host }: UriParts): boolean {
  return scheme === 'http' && host !== null && LOOPBACK_HOSTS.has(host);
}

const isWeb = (parts: UriParts) =>
  isLoopback(parts) || (parts.scheme === 'https' && parts.host !== null);

/** A scheme of an application's own has a dot in it, as RFC 8252, section 7.1, asks for. */
const isPrivateUse = ({ scheme }: UriParts) => scheme.includes('.');

// The parameters that a response adds to the query. There must be one of each.
const ADDED_PARAMETERS = ['code', 'state', 'iss', 'error'];

function isRedirectUri(text: string): boolean {
  const parts = splitReadableUri(text);
  if (parts === null || parts.fragment !== undefined || text.includes('*')) return false;
  if (!isWeb(parts) && !isPrivateUse(parts)) return false;
  const query = new URLSearchParams(parts.query);
  return !ADDED_PARAMETERS.some((name) => query.has(name));
}

function isWebUri(text: string): boolean {
  const parts = splitReadableUri(text);
  return parts !== null && isWeb(parts);
}

/** A redirect URI. */
export const redirectUri = z
  .string()
  .min(1, 'Must be a redirect URI, such as https://app.example/callback.')
  .max(500, 'Must be at most 500 characters.')
  .refine(
    isRedirectUri,
    'Must be https:, http: on 127.0.0.1, [::1] or localhost, or a scheme with a dot in it, such as com.example.app:/callback; without user, fragment, asterisk, and code, state, iss or error in the query.',
  )
  .meta({ examples: ['https://app.example/callback'] });

/** A web page: `https:`, or `http:` on a loopback host. */
export const webUri = z
  .string()
  .max(500, 'Must be at most 500 characters.')
  .refine(
    isWebUri,
    'Must be an address that starts with https:, or with http: on 127.0.0.1, [::1] or localhost, without user.',
  )
  .meta({ examples: ['https://app.example/'] });

const LOGO_DATA = /^data:image\/(?:png|webp|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/;

function isLogoUri(text: string): boolean {
  if (text.startsWith('data:')) return text.length <= 8_192 && LOGO_DATA.test(text);
  const parts = splitReadableUri(text);
  return text.length <= 500 && parts?.scheme === 'https' && parts.host !== null;
}

/** An image. */
export const logoUri = z
  .string()
  .refine(
    isLogoUri,
    'Must be an address that starts with https: and has at most 500 characters, or data:image/(png|webp|jpeg|gif|svg+xml);base64, of at most 8192.',
  )
  .meta({ examples: ['https://app.example/logo.png'] });
