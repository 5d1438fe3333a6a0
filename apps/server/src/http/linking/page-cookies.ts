import type { IncomingMessage } from 'node:http';
import type { PageAddress } from '../../linking/page-session.ts';
import { cookieValue } from '../cookie.ts';

export interface PageCookies {
  read(request: IncomingMessage, address: PageAddress): string | null;
  set(address: PageAddress, session: string, seconds: number): string;
}

/** With https, only this host gets the cookies, encrypted (RFC 6265bis, section 4.1.3.2). */
export function createPageCookies(publicUrl: string): PageCookies {
  const isSecure = publicUrl.startsWith('https:');
  const nameOf = (address: PageAddress) => (isSecure ? '__Host-' : '') + baseName(address);
  // Not Strict: the way to a page begins on the host's site.
  const attributes = `HttpOnly; SameSite=Lax; Path=/${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers }, address) => cookieValue(headers.cookie ?? '', nameOf(address)),
    set: (address, session, seconds) =>
      `${nameOf(address)}=${session}; ${attributes}; Max-Age=${seconds}`,
  };
}

function baseName(address: PageAddress): string {
  return address.kind === 'consent'
    ? `latchkey_link_${address.link_id.replaceAll('-', '')}`
    : 'latchkey_connections';
}
