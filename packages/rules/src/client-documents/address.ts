import { isIP } from 'node:net';
import { uris } from '@latchkey/schema';

/** A client sends it in each request. The address of its keys is no longer either. */
export const MAX_CLIENT_ID = 500;

/** With the brackets of an IPv6 address. */
export const isAddress = (host: string) => isIP(host.replace(/^\[|\]$/g, '')) !== 0;

/** As the URL standard writes it, without a port and with no empty label. */
export function isWrittenPlainly(host: string): boolean {
  // The standard takes more, such as an asterisk and a dot at the end.
  if (!/^[a-z0-9.:_[\]-]+$/.test(host) || host.split('.').includes('')) return false;
  return URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host;
}

/**
 * Whether a text can be the address of a document, or of keys. It is compared character for character,
 * so nothing here normalizes it.
 */
export function isAddressOf(text: string, { allowPrivate }: { allowPrivate: boolean }): boolean {
  const [, authority = ''] = /^https:\/\/([^/]*)/.exec(text) ?? [];
  const host = authority.replace(/:\d*$/, '');
  const parts = text.length <= MAX_CLIENT_ID ? uris.splitUri(text) : null;
  if (parts === null || !isWrittenPlainly(host) || !URL.canParse(text)) return false;
  if (parts.query !== undefined || parts.fragment !== undefined) return false;
  if (isAddress(host) && !allowPrivate) return false;
  return parts.path.length > 1 && !parts.path.split('/').some(isDots);
}

/** URL parsers take these out, percent-encoded or not: two texts would be one address. */
const isDots = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment);
