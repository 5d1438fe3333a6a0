import { hashCredential, readCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { Service } from '../service.ts';
import type { GrantAuthentication } from '../store/records.ts';

/**
 * Finds the active grant that a secret belongs to. The first use is on disk before this returns, so
 * that a grant that was ever used can't be recovered.
 *
 * @param credential - the grant secret
 * @param options.grant_id - where the caller named the grant too, it has to be that one
 * @param options.currentAccount - whether to read the account as it is now, and not as it was at issue
 * @param origin - kept with the first use
 * @throws DomainError `credentials_invalid`: the secret is ill-formed, unknown or replaced, the
 *   grant revoked, or its application disabled
 */
export async function authenticateGrant(
  { store, clock }: Service,
  credential: string,
  options: { grant_id: string | null; currentAccount: boolean },
  origin: Origin,
): Promise<GrantAuthentication> {
  const grant_id = readCredential('grantSecret', credential);
  if (options.grant_id !== null && options.grant_id !== grant_id) {
    throw DomainError.because('basic_names_another_grant', { grant_id });
  }
  const found = await store.authenticateGrant(grant_id, options);
  if (found === null) throw DomainError.because('secret_of_unknown_grant', { grant_id });
  const { application_id } = found.grant;
  const refuse = (reason: Reason) => DomainError.because(reason, { application_id, grant_id });

  if (found.secret_hash === null) throw refuse('grant_revoked');
  const secret_hash = hashCredential(credential);
  if (!sameHash(found.secret_hash, secret_hash)) throw refuse('grant_secret_wrong');
  if (found.application_disabled) throw refuse('application_disabled');

  if (found.first_used_at === null) {
    // The grant may have been revoked or recovered since it was read: the write tells.
    const use = { grant_id, secret_hash, now: clock(), origin };
    if (!(await store.noteFirstUse(use))) {
      const present = await store.findGrant(grant_id);
      throw refuse(present?.revoked_at === null ? 'grant_secret_wrong' : 'grant_revoked');
    }
  }
  return found;
}
