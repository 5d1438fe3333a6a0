import { createHash, randomBytes } from 'node:crypto';

/** A code verifier of RFC 7636, and what the authorization request has of it. */
export interface Pkce {
  verifier: string;
  challenge: { code_challenge: string; code_challenge_method: 'S256' };
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge: { code_challenge, code_challenge_method: 'S256' } };
}
