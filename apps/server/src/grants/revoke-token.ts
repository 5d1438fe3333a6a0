import { parseCredential } from '@latchkey/schema';
import { hashCredential, sameHash } from '../credentials/credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { accountSubject, DomainError } from '../domain-error.ts';
import type { Initiator } from '../initiator.ts';
import { endReasonOf } from '../store/end-reason.ts';
import type { RevokedRecord } from '../store/records.ts';

/** RFC 7009. Text that is not the secret of a grant needs no revocation. */
export async function revokeToken(
  { store, clock, counts }: Pick<Dependencies, 'store' | 'clock' | 'counts'>,
  application_id: string,
  token: string,
  initiator: Initiator,
): Promise<RevokedRecord | null> {
  const grant_id = parseCredential('grantSecret', token);
  if (grant_id === null) return null;
  const found = await store.authenticateGrant(grant_id, { currentAccount: false });
  // The grants of a deleted application no longer work, even before they are revoked.
  if (found?.secret_hash == null || found.application_disabled === null) return null;
  if (!sameHash(found.secret_hash, hashCredential(token))) return null;
  if (found.grant.application_id !== application_id) {
    const subject = { grant_id, ...accountSubject(found.account?.id) };
    throw DomainError.because('token_of_another_application', subject);
  }
  const revoked = await store.revokeGrant({
    ...{ grant_id, application_id, onlyActive: true, now: clock(), initiator },
  });
  if (revoked !== null) counts.grantsRevoked(endReasonOf(initiator.by));
  return revoked;
}
