const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** RFC 6761, section 6.3; RFC 6890, section 2.2. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

export function namesLoopback(header: string | undefined): boolean {
  return header !== undefined && isLoopbackHost(header.replace(/:\d*$/, ''));
}
