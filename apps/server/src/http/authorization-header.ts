import { DomainError } from '../domain-error.ts';
import type { RequestContext } from './request-context.ts';
import { countHeader } from './request-metadata.ts';

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
