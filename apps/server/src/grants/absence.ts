import type { Reason } from '../reasons.ts';
import type { GrantHistory } from '../store/records.ts';

/**
 * Why an application is told that there is no such grant.
 *
 * @param application_id - whose grant it has to be; null for the operator, who may name any
 * @returns null where it has this grant
 */
export function absence(
  history: GrantHistory | null,
  application_id: string | null,
): Reason | null {
  if (history === null) return 'grant_unknown';
  if (application_id !== null && history.application_id !== application_id) {
    return 'grant_of_another_application';
  }
  return history.created_at === null ? 'code_not_exchanged' : null;
}
