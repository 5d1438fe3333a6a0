import { percentDecode } from '../percent-decode.ts';
import type { Authorization } from './authorization-header.ts';
import { type Form, formMembers } from './form.ts';

export interface ClientCredentials {
  client_id: string | null;
  client_secret: string | null;
}

export const credentialNames = ['client_id', 'client_secret'] as const;

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

export function formCredentials(form: Form): ClientCredentials | null {
  const { client_id, client_secret } = formMembers(form, credentialNames);
  if (client_id === undefined && client_secret === undefined) return null;
  return { client_id: client_id ?? '', client_secret: client_secret ?? null };
}
