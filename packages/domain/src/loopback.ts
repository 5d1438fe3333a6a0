import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** RFC 6761, section 6.3; RFC 6890, section 2.2. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

const OF_PROXIES = /^(?:x-forwarded-.+|x-real-ip|forwarded|via)$/;

/**
 * Whether a browser on this machine asks, as far as a request can show it. Under a name of its own, a
 * page of another site could reach this machine (DNS rebinding). A proxy reaches it for strangers: most
 * add a header, and nginx, which adds none unless told to, asks in HTTP/1.0, as no browser does.
 */
export function isFromThisMachine({ headers, httpVersion }: IncomingMessage): boolean {
  const { host } = headers;
  if (host === undefined || !isLoopbackHost(host.replace(/:\d*$/, ''))) return false;
  return httpVersion !== '1.0' && !Object.keys(headers).some((name) => OF_PROXIES.test(name));
}
