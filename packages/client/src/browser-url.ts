/** The names of this machine that the service takes in a redirect URI over `http:` (RFC 8252, section 7.3). */
export const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export const parsedUrl = (text: unknown, base?: string): URL | undefined =>
  typeof text === 'string' && URL.canParse(text, base) ? new URL(text, base) : undefined;

/**
 * Reads an address of the application that browsers open: `https:`, or `http:` on a loopback host.
 *
 * @param Mistake - the class of the error for every other value
 */
export function browserUrl(
  text: unknown,
  Mistake: new (message: string) => Error,
  expected: string,
): URL {
  const url = parsedUrl(text);
  if (url?.protocol === 'https:') return url;
  if (url?.protocol === 'http:' && LOOPBACK.includes(url.hostname)) return url;
  throw new Mistake(`${expected} http:// is possible only on localhost, 127.0.0.1 and [::1].`);
}
