import { parseCredential } from '@latchkey/schema';
import { hashCredential, mintCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { Service } from '../service.ts';
import type { CodeState, CredentialHash, GrantRecord } from '../store/records.ts';
import { codeExpiry } from './code-lifetime.ts';

/** A grant with the secret that only its application ever sees. */
export interface GrantWithSecret {
  grant: GrantRecord;
  grant_secret: string;
}

/**
 * Exchanges a code for a grant. Of all calls with a code exactly one succeeds; a call that fails
 * leaves the code as it was.
 *
 * @param application_id - who asks, authenticated
 * @param origin - kept with the exchange
 * @throws DomainError `code_not_found`, `code_expired`, `code_already_used`
 */
export async function convert(
  { store, clock }: Service,
  application_id: string,
  code: string,
  origin: Origin,
): Promise<GrantWithSecret> {
  const grant_id = parseCredential('code', code);
  const expires_at = grant_id === null ? null : codeExpiry(grant_id);
  if (grant_id === null || expires_at === null) throw DomainError.because('code_ill_formed');

  const code_hash = hashCredential(code);
  // One reading of the clock for the write and for the reason, so that they can't contradict.
  const now = clock();
  if (now < expires_at) {
    // The secret is made before the write that needs its hash: code and grant are one document, so
    // there is no moment at which the code is spent and no grant exists.
    const secret = mintCredential('grantSecret', grant_id);
    const redemption = { grant_id, application_id, code_hash, secret_hash: secret.hash, now };
    const grant = await store.redeemCode({ ...redemption, origin });
    if (grant !== null) return { grant, grant_secret: secret.credential };
  }
  const state = await store.findCode(grant_id);
  const mistake = mistakeOf(state, application_id, code_hash);
  if (mistake === null && state?.exchanged) {
    throw DomainError.because('code_replayed', { grant_id }, { grant_id });
  }
  // Unknown, cancelled, another application's, or with a wrong random part: all the same to the
  // caller, who learns of nobody else's code.
  const unknown = mistake ?? 'code_unknown';
  throw DomainError.because(now < expires_at ? unknown : 'code_too_old', { grant_id });
}

/** Why this is not this very code of this very application; null where it is. */
function mistakeOf(
  state: CodeState | null,
  application_id: string,
  code_hash: CredentialHash,
): Reason | null {
  if (state === null) return 'code_unknown';
  if (state.application_id !== application_id) return 'code_of_another_application';
  return sameHash(state.code_hash, code_hash) ? null : 'code_forged';
}
