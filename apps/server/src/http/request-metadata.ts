import type { IncomingMessage } from 'node:http';
import { newId } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import { ownText } from '@latchkey/domain/own-text';
import type { RequestContext } from './request-context.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId(Date.now());
}

/** A browser asks for a page by its type: programs take what comes, or ask for JSON. */
export const asksForPage = ({ method = '', headers }: IncomingMessage): boolean =>
  /^(?:GET|HEAD)$/.test(method) && /\btext\/html\b/i.test(headers.accept ?? '');

/** The last value: a proxy appends, and the client may have made up everything before. */
function nearestValue(header: string | string[] | undefined): string | undefined {
  const values = Array.isArray(header) ? header.join(',') : header;
  return values?.split(',').at(-1)?.trim() || undefined;
}

export function clientAddress(request: IncomingMessage, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? nearestValue(request.headers['x-forwarded-for']) : undefined;
  // Limits and schedulers keep it for longer than the request.
  return forwarded === undefined ? request.socket.remoteAddress : ownText(forwarded);
}

// Nothing else can become the host of a link (RFC 9110, section 7.2).
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

export type PublicUrl = (request: IncomingMessage) => string;

/** PUBLIC_URL wins over every header. */
export function createPublicUrl(configured: string | null, trustProxy: boolean): PublicUrl {
  if (configured !== null) return () => configured;
  return ({ headers, socket }) => {
    const forwardedHost = trustProxy ? nearestValue(headers['x-forwarded-host']) : undefined;
    const host = forwardedHost ?? headers.host ?? '';
    const isHttps = trustProxy && nearestValue(headers['x-forwarded-proto']) === 'https';
    const scheme = isHttps ? 'https' : 'http';
    if (HOST.test(host)) return `${scheme}://${host}`;
    const { localAddress = 'localhost', localPort } = socket;
    const address = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
    return `${scheme}://${address}:${localPort}`;
  };
}

function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) count++;
  }
  return count;
}

export type Authorization =
  | { scheme: 'bearer'; token: string }
  | { scheme: 'basic'; user: string; password: string };

/** Bearer (RFC 6750, section 2.1) or Basic (RFC 7617, section 2); null for anything else. */
export function parseAuthorization(header: string): Authorization | null {
  const match = /^(bearer|basic) +([^ ]+) *$/i.exec(header);
  const [, scheme, value] = match ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: value };
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon === -1) return null;
  return { scheme: 'basic', user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

export function readAuthorization({ request }: RequestContext): Authorization {
  const { headers, rawHeaders } = request;
  const header = headers.authorization;
  if (header === undefined) throw new DomainError('credentials_missing');
  // Of several, Node takes the first and a proxy perhaps the last.
  if (countHeader(rawHeaders, 'authorization') > 1) throw DomainError.because('header_repeated');
  const authorization = parseAuthorization(header);
  if (authorization === null) throw DomainError.because('header_unreadable');
  return authorization;
}

// The longest host name has 253 characters (RFC 1035, section 2.3.4, without the root's dot).
export const MAX_HOST_LENGTH = 255;

// Node passes over those behind the 1,000th: before 22.23.2 and 24.18.1, it handles what is left.
export const MAX_HEADERS = 999;

/**
 * Of several Host headers, Node takes the first and a proxy perhaps the last (RFC 9112, section
 * 3.2). With HTTP/1.0, Transfer-Encoding makes the end of the body uncertain (section 6.1).
 */
export function isWellFramed({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if (rawHeaders.length > 2 * MAX_HEADERS) return false;
  const hosts = countHeader(rawHeaders, 'host');
  const isOld = httpVersion === '1.0';
  if (hosts > 1 || (hosts === 0 && !isOld)) return false;
  if ((headers.host ?? '').length > MAX_HOST_LENGTH) return false;
  return !(isOld && headers['transfer-encoding'] !== undefined);
}

// Room for a zone, a port and `[redacted]`. A proxy may pass on anything, such as control
// characters for a terminal.
const ADDRESS = /^[A-Za-z0-9.:%_[\]-]{1,64}$/;

/** Clients may put credentials into their request id or address. */
export function createRedaction(redact: (text: string) => string) {
  return (requestId: string, address: string | undefined): RequestContext['redacted'] => {
    const clean = redact(address ?? '');
    return { request_id: redact(requestId), address: ADDRESS.test(clean) ? clean : null };
  };
}
