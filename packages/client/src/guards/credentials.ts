import { parseCredential } from '@latchkey/schema';

/**
 * The grant's secret in an Authorization header, which is either Bearer (RFC 6750, section 2.1) or
 * Basic with the grant's id and secret (RFC 7617, section 2).
 *
 * What is none by its form, or its checksum, is refused here: it would cost Latchkey a request, and
 * count there against the address of the server that asks.
 *
 * @returns null where there is no well-formed secret in it, or it is not of the id beside it
 */
export function grantSecretIn(authorization: string): string | null {
  const [, scheme, value = ''] = /^(bearer|basic) +([^ ]+) *$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() !== 'basic') return parseCredential('grantSecret', value) && value;
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/.exec(decoded(value)) ?? [];
  return parseCredential('grantSecret', secret) === id.toLowerCase() ? secret : null;
}

function decoded(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}
