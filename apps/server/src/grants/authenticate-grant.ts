import { hashCredential, readCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { Service } from '../service.ts';
import type { GrantAuthentication } from '../store/records.ts';

/** Whether a plain read finds the secret. During a failover it may miss one that was just created. */
export async function isKnownGrantSecret(
  { store }: Pick<Service, 'store'>,
  credential: string,
): Promise<boolean> {
  const grant_id = readCredential('grantSecret', credential);
  const found = await store.authenticateGrant(grant_id, {
    currentAccount: false,
    mayBeStale: true,
  });
  return found?.secret_hash != null && sameHash(found.secret_hash, hashCredential(credential));
}

/**
 * Finds the active grant that a secret belongs to. The first use is on disk before this returns, so
 * a grant that was ever used can't be recovered.
 *
 * @param options.grant_id - the grant that the caller named beside the secret, if it did
 * @throws DomainError `credentials_invalid`: the secret is ill-formed, unknown or replaced, the
 *   grant revoked, or its application deleted
 * @throws DomainError `application_disabled`: the secret is right, and its application is disabled.
 *   That is no use of the grant
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
  if (found.application_disabled === null) throw refuse('application_deleted');
  if (found.application_disabled) throw refuse('application_disabled');

  if (found.first_used_at === null) {
    const use = { grant_id, secret_hash, now: clock(), origin };
    if (!(await store.noteFirstUse(use))) {
      // Revoked or recovered since it was read.
      const history = await store.findGrantHistory(grant_id);
      throw refuse(history?.revoked_at === null ? 'grant_secret_wrong' : 'grant_revoked');
    }
  }
  return found;
}
