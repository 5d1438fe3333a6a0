/** The names of this machine that the service takes in a redirect URI over `http:` (RFC 8252, section 7.3). */
export const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
