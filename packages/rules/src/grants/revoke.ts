import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { endReasonOf } from '@latchkey/store/end-reason';
import type { GrantHistory, RevokedRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { whyNotFound } from './why-not-found.ts';

export async function revoke(
  { store, clock, counts }: Pick<Dependencies, 'store' | 'clock' | 'counts'>,
  application_id: string | null,
  grant_id: string,
  initiator: Initiator,
): Promise<RevokedRecord> {
  const revocation = { grant_id, application_id, onlyActive: true, now: clock(), initiator };
  const revoked = await store.revokeGrant(revocation);
  if (revoked !== null) {
    counts.add(`revoked:${endReasonOf(initiator.by)}`);
    return revoked;
  }
  const history = await store.findGrantHistory(grant_id);
  const reason = whyNotFound(history, application_id);
  // A repetition returns the first result, and counts nothing.
  if (reason === null && isRevoked(history)) {
    const { created_at, revoked_at } = history;
    return { grant_id, application_id: history.application_id, created_at, revoked_at };
  }
  const subject = { grant_id, ...accountSubject(history?.account_id) };
  // Null if the code was redeemed between the write and the read.
  throw DomainError.because(reason ?? 'code_not_redeemed', subject);
}

function isRevoked(
  history: GrantHistory | null,
): history is GrantHistory & Pick<RevokedRecord, 'created_at' | 'revoked_at'> {
  return history?.created_at != null && history.revoked_at !== null;
}
