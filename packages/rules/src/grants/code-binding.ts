import { hash } from 'node:crypto';
import { sameHash } from '@latchkey/domain/credentials/credentials';
import type { Reason } from '@latchkey/domain/reasons';
import type { CodeBinding } from '@latchkey/store/records';

export interface BindingProof {
  redirect_uri: string | null;
  code_challenge: string | null;
  /** The code has to be for one of these; null for any. */
  resources: readonly (string | null)[] | null;
}

export function challengeOf(code_verifier: string): string {
  return hash('sha256', code_verifier, 'base64url');
}

/** The write of the redemption has the same conditions. This names the first that failed. */
export function whyNotBound(code: CodeBinding, proof: BindingProof): Reason | null {
  return (
    whyNotThisRedirect(code, proof) ??
    whyNotThisChallenge(code, proof) ??
    (proof.resources?.includes(code.resource) === false ? 'resource_differs' : null)
  );
}

function whyNotThisRedirect(code: CodeBinding, { redirect_uri }: BindingProof): Reason | null {
  if (code.redirect_uri === null) return null;
  if (redirect_uri !== null)
    return redirect_uri === code.redirect_uri ? null : 'redirect_uri_differs';
  // PKCE proves more than the redirect URI, so OAuth 2.1 asks for none (section 10.2).
  const mayBeLeftOut = code.code_challenge !== null || !code.redirect_uri_given;
  return mayBeLeftOut ? null : 'redirect_uri_missing';
}

function whyNotThisChallenge(code: CodeBinding, { code_challenge }: BindingProof): Reason | null {
  // A verifier without a challenge is a downgrade: somebody removed the challenge from the
  // authorization request (RFC 9700, section 4.8.2).
  if (code.code_challenge === null) return code_challenge === null ? null : 'verifier_unexpected';
  if (code_challenge === null) return 'verifier_missing';
  const isSame = sameHash(Buffer.from(code_challenge), Buffer.from(code.code_challenge));
  return isSame ? null : 'verifier_wrong';
}
