import { hash } from 'node:crypto';
import { sameHash } from '../credentials/credentials.ts';
import type { Reason } from '../reasons.ts';
import type { CodeBinding } from '../store/records.ts';

/** What a redemption says about the authorization request that its code answers. */
export interface BindingProof {
  /** Null if it was left out. */
  redirect_uri: string | null;
  /** The challenge of the verifier that was sent; null without one. */
  code_challenge: string | null;
}

/** The challenge of a verifier, with the method S256 (RFC 7636, section 4.2). */
export function challengeOf(code_verifier: string): string {
  return hash('sha256', code_verifier, 'base64url');
}

/**
 * Why a redemption does not fit the code. The write of the redemption has the same conditions; this
 * tells which of them failed, the redirect URI first.
 *
 * @returns null if it fits
 */
export function whyNotBound(code: CodeBinding, proof: BindingProof): Reason | null {
  return whyNotThisRedirect(code, proof) ?? whyNotThisChallenge(code, proof);
}

function whyNotThisRedirect(code: CodeBinding, { redirect_uri }: BindingProof): Reason | null {
  if (code.redirect_uri === null) return null;
  if (redirect_uri !== null)
    return redirect_uri === code.redirect_uri ? null : 'redirect_uri_differs';
  // PKCE proves more than the redirect URI does, so OAuth 2.1 asks for none (section 10.2).
  const mayBeLeftOut = code.code_challenge !== null || !code.redirect_uri_given;
  return mayBeLeftOut ? null : 'redirect_uri_missing';
}

function whyNotThisChallenge(code: CodeBinding, { code_challenge }: BindingProof): Reason | null {
  // A verifier without a challenge is a downgrade: somebody took the challenge out of the
  // authorization request (RFC 9700, section 4.8.2).
  if (code.code_challenge === null) return code_challenge === null ? null : 'verifier_unexpected';
  if (code_challenge === null) return 'verifier_missing';
  const isSame = sameHash(Buffer.from(code_challenge), Buffer.from(code.code_challenge));
  return isSame ? null : 'verifier_wrong';
}
