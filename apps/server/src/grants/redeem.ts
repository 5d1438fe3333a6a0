import { parseCredential, uuidV7Time } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import { hashCredential, mintCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { Service } from '../service.ts';
import type { CodeState, CredentialHash, GrantRecord } from '../store/records.ts';

/** A code is valid for 5 minutes after its issue (the grant interface, section 8). */
export const CODE_LIFETIME: Milliseconds = 300_000;

// A clock that is ahead issues codes that would live as much longer. Processes on NTP are within a
// second of each other; a minute is the bound of the contract, section 3.
const MAX_CLOCK_SKEW: Milliseconds = 60_000;

/** A grant with the secret that only its application ever sees. */
export interface GrantWithSecret {
  grant: GrantRecord;
  grant_secret: string;
}

/**
 * Turns a code into a grant. Of all calls with one code exactly one succeeds; a call that fails
 * leaves the code as it was.
 *
 * @throws DomainError `code_not_found`, `code_expired`, `code_already_used`
 */
export async function redeem(
  { store, clock }: Service,
  application_id: string,
  code: string,
  origin: Origin,
): Promise<GrantWithSecret> {
  const grant_id = parseCredential('code', code);
  const issued_at = grant_id === null ? null : uuidV7Time(grant_id);
  if (grant_id === null || issued_at === null) throw DomainError.because('code_ill_formed');

  const code_hash = hashCredential(code);
  // Read once, so that the write and the reason for a refusal can't contradict each other.
  const now = clock();
  if (issued_at > now + MAX_CLOCK_SKEW) {
    throw DomainError.because('code_from_the_future', { grant_id });
  }
  const isExpired = now >= issued_at + CODE_LIFETIME;
  if (!isExpired) {
    // The write needs the hash of the secret: it turns the code into the grant in one step, so no
    // crash can leave a spent code without a grant.
    const secret = mintCredential('grantSecret', grant_id);
    const redemption = { grant_id, application_id, code_hash, secret_hash: secret.hash, now };
    const grant = await store.redeemCode({ ...redemption, origin });
    if (grant !== null) return { grant, grant_secret: secret.credential };
  }
  const state = await store.findCode(grant_id);
  const reason = whyNotThisCode(state, application_id, code_hash);
  if (reason === null && state?.redeemed) {
    throw DomainError.because('code_replayed', { grant_id }, { grant_id });
  }
  // The caller gets the same error for each of these, and so learns nothing about codes of others.
  throw DomainError.because(isExpired ? 'code_too_old' : (reason ?? 'code_unknown'), { grant_id });
}

function whyNotThisCode(
  state: CodeState | null,
  application_id: string,
  code_hash: CredentialHash,
): Reason | null {
  if (state === null) return 'code_unknown';
  if (state.application_id !== application_id) return 'code_of_another_application';
  return sameHash(state.code_hash, code_hash) ? null : 'code_forged';
}
