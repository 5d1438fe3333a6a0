import { DomainError } from '@latchkey/domain/domain-error';
import { percentDecode } from '@latchkey/rules/percent-decode';
import { type Form, formMembers } from './form.ts';
import type { Authorization } from './request-metadata.ts';

export interface ClientCredentials {
  /** Of an assertion without it, the subject says who. */
  client_id: string | null;
  client_secret: string | null;
  /** Signed with a key of the client (RFC 7523, section 2.2). */
  assertion: string | null;
}

const credentialNames = ['client_id', 'client_secret'] as const;

/** Of clients with a document. */
export const assertionNames = ['client_assertion', 'client_assertion_type'] as const;

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export function headerCredentials(authorization: Authorization): ClientCredentials {
  if (authorization.scheme === 'bearer') {
    return { client_id: null, client_secret: authorization.token, assertion: null };
  }
  // RFC 6749, section 2.3.1, asks clients to encode both, and many do not.
  const client_secret = percentDecode(authorization.password);
  return {
    client_id: percentDecode(authorization.user),
    client_secret: client_secret === '' ? null : client_secret,
    assertion: null,
  };
}

/** @param takesAssertions - otherwise, their parameters are ignored like other unknown ones */
export function formCredentials(
  form: Form,
  { takesAssertions }: { takesAssertions: boolean },
): ClientCredentials | null {
  const { client_id, client_secret } = formMembers(form, credentialNames);
  const assertion = takesAssertions ? readAssertion(form, client_secret) : null;
  if (client_id === undefined && client_secret === undefined && assertion === null) return null;
  return {
    client_id: client_id ?? (assertion === null ? '' : null),
    client_secret: client_secret ?? null,
    assertion,
  };
}

function readAssertion(form: Form, client_secret: string | undefined): string | null {
  const { client_assertion, client_assertion_type: type } = formMembers(form, assertionNames);
  if (client_assertion === undefined && type === undefined) return null;
  if (type !== JWT_BEARER) {
    throw DomainError.invalid(['client_assertion_type'], `Must be ${JWT_BEARER}.`);
  }
  if (client_assertion === undefined) {
    throw DomainError.invalid(['client_assertion'], 'Must be given with its type.');
  }
  if (client_secret !== undefined) {
    throw DomainError.invalid(['client_secret'], 'Must be left out, since there is an assertion.');
  }
  return client_assertion;
}
