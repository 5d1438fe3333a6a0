import { randomBytes } from 'node:crypto';
import { pkce } from './pkce.ts';
import { REDIRECT_URI, type Registration } from './registration.ts';

/** An authorization request (RFC 6749, 4.1.1) with PKCE (RFC 7636) and its verifier. */
export interface AuthorizationRequest {
  query: URLSearchParams;
  verifier: string;
}

export function authorizationRequest(
  { client_id }: Registration,
  scope: string,
): AuthorizationRequest {
  const { verifier, challenge } = pkce();
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: REDIRECT_URI,
    scope,
    state: randomBytes(32).toString('base64url'),
    ...challenge,
  });
  return { query, verifier };
}
