import type { Reason } from '@latchkey/domain/reasons';
import type { GrantHistory } from '@latchkey/store/records';

export function whyNotFound(
  history: GrantHistory | null,
  application_id: string | null,
): Reason | null {
  if (history === null) return 'grant_unknown';
  if (application_id !== null && history.application_id !== application_id) {
    return 'grant_of_another_application';
  }
  return history.created_at === null ? 'code_not_redeemed' : null;
}
