import { parseCredential } from '@latchkey/schema';
import { hashCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { GrantAuthentication } from '../store/records.ts';

/**
 * Finds the active grant that a secret belongs to. The first use is on disk before this returns, so
 * that a grant that was ever used can't be recovered.
 *
 * @param credential - the grant secret
 * @param options.grant_id - where the caller named the grant too, it has to be that one
 * @param options.account - whether to read the account as it is now along with it
 * @throws DomainError `credentials_invalid`: the secret is ill-formed, unknown or replaced, the
 *   grant revoked, or its application disabled
 */
export async function authenticateGrant(
  { store, clock }: Service,
  credential: string,
  options: { grant_id: string | null; account: boolean },
): Promise<GrantAuthentication> {
  const grant_id = parseCredential('grantSecret', credential);
  if (grant_id === null) throw new DomainError('credentials_invalid');
  if (options.grant_id !== null && options.grant_id !== grant_id) {
    throw new DomainError('credentials_invalid');
  }
  const found = await store.authenticateGrant(grant_id, { account: options.account });
  if (found === null || found.secret_hash === null || found.application_disabled) {
    throw new DomainError('credentials_invalid');
  }
  const secret_hash = hashCredential(credential);
  if (!sameHash(found.secret_hash, secret_hash)) throw new DomainError('credentials_invalid');

  if (found.first_used_at === null) {
    // The grant may have been revoked or recovered since it was read: the write tells.
    const active = await store.noteFirstUse({ grant_id, secret_hash, now: clock() });
    if (!active) throw new DomainError('credentials_invalid');
  }
  return found;
}
