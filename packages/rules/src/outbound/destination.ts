import { isIP } from 'node:net';
import { uris } from '@latchkey/schema';
import { isAddressAllowed } from './addresses.ts';

/** Where the service may connect to, besides public addresses by `https:`. */
export interface OutboundAllow {
  /** Loopback, private, unique-local and shared addresses. Default: false */
  private?: boolean;
  /** `http:` too. Default: false */
  http?: boolean;
  /** The service's own, such as `http://127.0.0.1:3000`: for the demo. Default: null */
  ownOrigin?: string | null;
}

const MAX_LENGTH = 500;

/** What is let in at one URL. Null: not even its scheme. */
export function allowedAt(
  { protocol, origin }: URL,
  { private: isPrivate = false, http = false, ownOrigin = null }: OutboundAllow,
): { private: boolean } | null {
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  if (origin === ownOrigin) return { private: true };
  return protocol === 'https:' || http ? { private: isPrivate } : null;
}

/**
 * Whether messages can't be sent to a URL, as far as the URL alone can show: its host may still have an
 * address that is refused.
 */
export function isRefusedUrl(text: string, allow: OutboundAllow): boolean {
  const parts = text.length <= MAX_LENGTH ? uris.splitUri(text) : null;
  if (parts === null || parts.host === null || parts.fragment !== undefined) return true;
  if (!URL.canParse(text)) return true;
  // Writes an IPv4 address in decimal, however it was written.
  const url = new URL(text);
  const allowed = allowedAt(url, allow);
  return allowed === null || isRefusedHost(url, allowed);
}

function isRefusedHost(url: URL, { private: allowPrivate }: { private: boolean }): boolean {
  const host = hostOf(url);
  if (isIP(host) !== 0) return !isAddressAllowed(host, { allowPrivate });
  // RFC 6761, section 6.3.
  return !allowPrivate && /(?:^|\.)localhost\.*$/.test(host);
}

/** Without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
