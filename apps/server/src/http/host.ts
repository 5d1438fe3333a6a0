import type { IncomingMessage } from 'node:http';

/**
 * Whether a request names one host, as HTTP/1.1 has to (RFC 9112, section 3.2). Node would take the
 * first of several, and a proxy before us perhaps the last.
 */
export function namesOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
