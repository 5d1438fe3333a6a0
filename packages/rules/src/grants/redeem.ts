import { hashCredential, mintCredential, sameHash } from '@latchkey/domain/credentials/credentials';
import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { CODE_LIFETIME, MAX_CLOCK_SKEW } from '@latchkey/domain/lifetimes';
import type { Reason } from '@latchkey/domain/reasons';
import { credentialParts, uuidV7Time } from '@latchkey/schema';
import { isOver } from '@latchkey/store/generations';
import type { ApplicationRecord, CodeState, GrantRecord } from '@latchkey/store/records';
import type { Redemption } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { type BindingProof, challengeOf, whyNotBound } from './code-binding.ts';

export interface GrantWithSecret {
  grant: GrantRecord;
  grant_secret: string;
}

export interface RedemptionRequest {
  code: string;
  redirect_uri?: string | undefined;
  code_verifier?: string | undefined;
  /** The code has to be for one of these resources; null in the list is for a code without one. Default: any. */
  resources?: readonly (string | null)[] | null;
}

/** Of all calls with one code, exactly one succeeds. A failed call leaves the code unchanged. */
export async function redeem(
  { store, clock, counts }: Pick<Dependencies, 'store' | 'clock' | 'counts'>,
  { id: application_id, generations }: Pick<ApplicationRecord, 'id' | 'generations'>,
  { code, redirect_uri, code_verifier, resources = null }: RedemptionRequest,
  initiator: Initiator,
): Promise<GrantWithSecret> {
  const parts = credentialParts('code', code);
  const issued_at = parts && uuidV7Time(parts.id);
  if (parts === null || issued_at === null) throw DomainError.because('code_ill_formed');
  const grant_id = parts.id;

  const code_hash = hashCredential(code);
  const proof = {
    redirect_uri: redirect_uri ?? null,
    code_challenge: code_verifier === undefined ? null : challengeOf(code_verifier),
    resources,
  };
  // Read once, so that the write and the reason for a refusal agree.
  const now = clock();
  if (issued_at > now + MAX_CLOCK_SKEW) {
    throw DomainError.because('code_from_the_future', { grant_id });
  }
  const isExpired = now >= issued_at + CODE_LIFETIME;
  if (!isExpired) {
    // The write stores the hash of the secret with the redemption, so that no crash leaves a spent
    // code without a grant.
    const secret = mintCredential('grantSecret', grant_id);
    const grant = await store.redeemCode({
      ...{ grant_id, application_id, code_hash, secret_hash: secret.hash, now },
      ...{ ...proof, disabled_generation: generations.disabled, initiator },
    });
    if (grant !== null) {
      counts.add('grants:created');
      return { grant, grant_secret: secret.credential };
    }
  }
  const state = await store.findCode(grant_id);
  const asked = { application_id, code_hash, ...proof, generations };
  const reason = whyNotRedeemed(state, asked, isExpired);
  const subject = { grant_id, ...accountSubject(state?.account_id) };
  throw DomainError.because(reason, subject, reason === 'code_replayed' ? { grant_id } : {});
}

type ThisCode = Pick<Redemption, 'application_id' | 'code_hash'> &
  Pick<ApplicationRecord, 'generations'>;

/** The first reason in the order of `docs/protocol/operations.md#redemption`. */
function whyNotRedeemed(
  state: CodeState | null,
  redemption: ThisCode & BindingProof,
  isExpired: boolean,
): Reason {
  const whyUnknown = whyNotThisCode(state, redemption);
  // All of these have the same error code, so that callers learn nothing about codes of others.
  if (state === null || whyUnknown !== null) {
    return isExpired ? 'code_too_old' : (whyUnknown ?? 'code_unknown');
  }
  if (isExpired && !state.redeemed) return 'code_too_old';
  return whyNotBound(state, redemption) ?? (state.redeemed ? 'code_replayed' : 'code_unknown');
}

function whyNotThisCode(
  state: CodeState | null,
  { application_id, code_hash, generations }: ThisCode,
): Reason | null {
  if (state === null) return 'code_unknown';
  if (state.application_id !== application_id) return 'code_of_another_application';
  if (!sameHash(state.code_hash, code_hash)) return 'code_forged';
  // Disabling an application ends its codes, but not its grants.
  return !state.redeemed && isOver(state, { generations }) ? 'code_ended_by_disabling' : null;
}
