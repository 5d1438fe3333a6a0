import type { Actor } from '@latchkey/domain/initiator';
import type { EndReason, GrantHistory, StoredReason } from './records.ts';

const reasonOf: { readonly [By in Actor]: Exclude<EndReason, StoredReason> } = {
  application: 'application',
  // A grant's secret ends nothing. If it did, its application would have.
  grant: 'application',
  user: 'user',
  operator: 'host',
  command_line: 'host',
};

/** Why whoever asked for it ended a grant. */
export const endReasonOf = (by: Actor) => reasonOf[by];

/** Null if the grant is not revoked, or only a `RevokedRecord` is left. */
export function endReason({
  revoked_by,
  revoked_reason,
}: Pick<GrantHistory, 'revoked_by' | 'revoked_reason'>): EndReason | null {
  return revoked_reason ?? (revoked_by && endReasonOf(revoked_by.by));
}
