import { hashCredential, sameHash } from '@latchkey/domain/credentials/credentials';
import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { parseCredential } from '@latchkey/schema';
import { endReasonOf } from '@latchkey/store/end-reason';
import type { RevokedRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

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
  if (revoked !== null) counts.add(`revoked:${endReasonOf(initiator.by)}`);
  return revoked;
}
