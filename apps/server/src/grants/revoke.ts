import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import type { GrantRecord } from '../store/records.ts';
import { absence } from './absence.ts';

/**
 * Revokes a grant, at once and for good. Idempotent.
 *
 * @param application_id - whose grant it has to be; null for the operator, who may revoke any
 * @param origin - kept with the grant; that of the first revocation stays
 * @throws DomainError `grant_not_found`: unknown, another application's, or not yet exchanged
 */
export async function revoke(
  { store, clock }: Service,
  application_id: string | null,
  grant_id: string,
  origin: Origin,
): Promise<GrantRecord> {
  const grant = await store.revokeGrant({ grant_id, application_id, now: clock(), origin });
  if (grant !== null) return grant;
  const history = await store.findGrantHistory(grant_id);
  const reason = absence(history, application_id);
  // Null where the code was exchanged since: when it was looked for, it was not yet.
  throw DomainError.because(reason ?? 'code_not_exchanged', { grant_id });
}
