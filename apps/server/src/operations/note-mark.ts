import type { AuditedIds } from '@latchkey/rules/audit/audit';
import type { Ended } from '@latchkey/rules/grants/revoke-all';

/** A restore sets the same mark, by the audit line. */
export function noteMark(ids: AuditedIds, ended: Ended): Ended {
  if (ended.mark_number !== null) ids.mark_number = String(ended.mark_number);
  return ended;
}

export const stateOf = ({ isDone }: Pick<Ended, 'isDone'>) => (isDone ? 'revoked' : 'revoking');
