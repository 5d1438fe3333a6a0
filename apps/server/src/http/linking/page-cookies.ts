import type { IncomingMessage } from 'node:http';
import type { PageAddress } from '@latchkey/rules/linking/page-session';
import { readCookies } from '../cookie.ts';

export interface PageCookies {
  read(request: IncomingMessage, address: PageAddress): string | null;
  set(address: PageAddress, session: string, seconds: number): string;
  /** The Set-Cookie headers that end the oldest pages, so that a browser has room for another one. */
  makeRoom(request: IncomingMessage, address: PageAddress): string[];
}

/** Of consent pages. Node refuses a header section of more than 16 KiB, and a cookie has 125 bytes. */
export const MAX_OTHER_PAGES = 7;

/** With https, only this host gets the cookies, encrypted (RFC 6265bis, section 4.1.3.2). */
export function createPageCookies(publicUrl: string): PageCookies {
  const isSecure = publicUrl.startsWith('https:');
  const prefix = isSecure ? '__Host-latchkey' : 'latchkey';
  const nameOf = (address: PageAddress) =>
    address.kind === 'consent'
      ? `${prefix}_link_${address.link_id.replaceAll('-', '')}`
      : `${prefix}_connections`;
  // Not Strict: the way to a page begins on the host's site.
  const attributes = `HttpOnly; SameSite=Lax; Path=/${isSecure ? '; Secure' : ''}`;
  const ofLinks = new RegExp(`^${prefix}_link_[0-9a-f]{32}$`);
  return {
    read: ({ headers }, address) => readCookies(headers.cookie).get(nameOf(address)) ?? null,
    set: (address, session, seconds) =>
      `${nameOf(address)}=${session}; ${attributes}; Max-Age=${seconds}`,
    makeRoom: ({ headers }, address) =>
      [...readCookies(headers.cookie).keys()]
        .filter((name) => ofLinks.test(name) && name !== nameOf(address))
        // By the id of the link, which begins with the time.
        .sort()
        .slice(0, -MAX_OTHER_PAGES)
        .map((name) => `${name}=; ${attributes}; Max-Age=0`),
  };
}
