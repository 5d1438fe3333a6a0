import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { GrantRecord } from '../store/records.ts';

/**
 * Revokes a grant, at once and for good. Idempotent.
 *
 * @param application_id - whose grant it has to be; null for the operator, who may revoke any
 * @throws DomainError `grant_not_found`: unknown, another application's, or not yet exchanged
 */
export async function revoke(
  { store, clock }: Service,
  application_id: string | null,
  grant_id: string,
): Promise<GrantRecord> {
  const grant = await store.revokeGrant({ grant_id, application_id, now: clock() });
  if (grant === null) throw new DomainError('grant_not_found');
  return grant;
}
