import { createHash, randomBytes } from 'node:crypto';

/** The redirect URI of the registered applications. Nothing listens there. */
export const REDIRECT_URI = 'https://application.example/callback';

/** The credentials of a registered application. */
export interface Registration {
  client_id: string;
  client_secret: string;
}

export function registration(client_id: string): Registration {
  return { client_id, client_secret: randomBytes(32).toString('hex') };
}

/** A code verifier and its challenge (RFC 7636). */
export interface Pkce {
  verifier: string;
  challenge: { code_challenge: string; code_challenge_method: 'S256' };
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge: { code_challenge, code_challenge_method: 'S256' } };
}

/** The query of an authorization request (RFC 6749, 4.1.1) with PKCE, and its verifier. */
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
