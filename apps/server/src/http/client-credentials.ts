import { percentDecode } from '../percent-decode.ts';
import type { Authorization } from './authorization-header.ts';
import { type Form, formMembers } from './form.ts';

/** What an OAuth client says to tell who it is (RFC 6749, section 2.3). */
export interface ClientCredentials {
  /** Null if only the secret was sent, which has the id in it. */
  client_id: string | null;
  /** Null for a public application, which has none. */
  client_secret: string | null;
}

/** The parameters of a form that authenticate a client (RFC 6749, section 2.3.1). */
export const credentialNames = ['client_id', 'client_secret'] as const;

/** The credentials in an Authorization header: Bearer, or `client_secret_basic`. */
export function headerCredentials(authorization: Authorization): ClientCredentials {
  if (authorization.scheme === 'bearer') {
    return { client_id: null, client_secret: authorization.token };
  }
  // RFC 6749, section 2.3.1, asks clients to encode both, and many do not.
  const client_secret = percentDecode(authorization.password);
  return {
    client_id: percentDecode(authorization.user),
    client_secret: client_secret === '' ? null : client_secret,
  };
}

/**
 * The credentials in a form: `client_secret_post`, or only the `client_id` of a public application.
 *
 * @returns null if there are none
 * @throws DomainError `parameter_invalid`: one of them is repeated
 */
export function formCredentials(form: Form): ClientCredentials | null {
  const { client_id, client_secret } = formMembers(form, credentialNames);
  if (client_id === undefined && client_secret === undefined) return null;
  return { client_id: client_id ?? '', client_secret: client_secret ?? null };
}
