import { accountSubject, DomainError } from '../domain-error.ts';
import type { Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { RevokedRecord } from '../store/records.ts';
import { whyNotFound } from './why-not-found.ts';

export async function revoke(
  { store, clock }: Service,
  application_id: string | null,
  grant_id: string,
  initiator: Initiator,
): Promise<RevokedRecord> {
  const grant = await store.revokeGrant({ grant_id, application_id, now: clock(), initiator });
  if (grant !== null) return grant;
  const history = await store.findGrantHistory(grant_id);
  const reason = whyNotFound(history, application_id);
  const subject = { grant_id, ...accountSubject(history?.account_id) };
  // Null if the code was redeemed between the write and the read.
  throw DomainError.because(reason ?? 'code_not_redeemed', subject);
}
