const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/**
 * RFC 6761, section 6.3; RFC 6890, section 2.2.
 *
 * @param host - with or without the brackets of an IPv6 address
 */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/** @param header - a Host header (RFC 9110, section 7.2) */
export function namesLoopback(header: string | undefined): boolean {
  return header !== undefined && isLoopbackHost(header.replace(/:\d*$/, ''));
}
