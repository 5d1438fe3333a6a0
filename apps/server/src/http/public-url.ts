import type { IncomingMessage } from 'node:http';
import { nearestValue } from './forwarded.ts';

// A host name, an IPv4 or a bracketed IPv6 address, and perhaps a port: nothing that could leave
// the place of a host in a link (RFC 9110, section 7.2).
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Tells under which address a request reached the service, as the base of links in its answer. */
export type PublicUrl = (request: IncomingMessage) => string;

/**
 * @param configured - PUBLIC_URL, if set: then that, whatever the request says
 * @param trustProxy - whether X-Forwarded-Proto and X-Forwarded-Host come from a proxy of ours
 */
export function createPublicUrl(configured: string | null, trustProxy: boolean): PublicUrl {
  if (configured !== null) return () => configured;
  return ({ headers, socket }) => {
    const forwarded = (name: string) => (trustProxy ? nearestValue(headers[name]) : undefined);
    const host = forwarded('x-forwarded-host') ?? headers.host ?? '';
    const scheme = forwarded('x-forwarded-proto') === 'https' ? 'https' : 'http';
    if (HOST.test(host)) return `${scheme}://${host}`;
    const { localAddress = 'localhost', localPort } = socket;
    const address = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
    return `${scheme}://${address}:${localPort}`;
  };
}
