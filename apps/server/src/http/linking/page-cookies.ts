import type { IncomingMessage } from 'node:http';
import type { PageAddress } from '../../linking/page-session.ts';
import { cookieValue } from '../cookie.ts';

/** The cookies that keep a page open in the browser that opened it. There are no others. */
export interface PageCookies {
  /** The session of a page; null without one. */
  read(request: IncomingMessage, address: PageAddress): string | null;
  /**
   * The value of a Set-Cookie header (RFC 6265, section 4.1).
   *
   * @param seconds - how long the browser keeps it
   */
  set(address: PageAddress, session: string, seconds: number): string;
}

/**
 * @param publicUrl - where it is https, the browser takes the cookies from this host alone and sends
 *   them encrypted alone (RFC 6265bis, section 4.1.3.2)
 */
export function createPageCookies(publicUrl: string): PageCookies {
  const isSecure = publicUrl.startsWith('https:');
  const nameOf = (address: PageAddress) => (isSecure ? '__Host-' : '') + baseName(address);
  // Lax and not Strict: the way to a page begins on the host's site.
  const attributes = `HttpOnly; SameSite=Lax; Path=/${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers }, address) => cookieValue(headers.cookie ?? '', nameOf(address)),
    set: (address, session, seconds) =>
      `${nameOf(address)}=${session}; ${attributes}; Max-Age=${seconds}`,
  };
}

/** Two links in two tabs have a cookie each. */
function baseName(address: PageAddress): string {
  return address.kind === 'consent'
    ? `latchkey_link_${address.link_id.replaceAll('-', '')}`
    : 'latchkey_connections';
}
