import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import type { ConnectedGrant, GrantRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { activeGrants } from './active-grants.ts';

// Simultaneous writes share a wait for the disk.
const AT_ONCE = 64;

/** After a conversion: ends the live grants of its account for its resource, except the newest `most`. */
export async function endReplacedGrants(
  { store, clock, audit, counts }: Pick<Dependencies, 'store' | 'clock' | 'audit' | 'counts'>,
  { grant_id, application_id, resource, account: { id: account_id } }: GrantRecord,
  most: number,
  initiator: Initiator,
): Promise<void> {
  async function end(replaced: string): Promise<void> {
    const revoked = await store.revokeGrant({
      ...{ grant_id: replaced, application_id, onlyActive: true },
      ...{ reason: 'replaced', initiator, now: clock() },
    });
    if (revoked === null) return;
    audit.ended(revoked, 'replaced', initiator);
    counts.add('revoked:replaced');
  }

  try {
    const live: ConnectedGrant[] = [];
    for await (const grant of activeGrants(store, { account_id, application_id })) {
      if (grant.resource === resource) live.push(grant);
    }
    const replaced = live.sort(byConversion).slice(0, -most);
    while (replaced.length > 0) {
      await Promise.all(replaced.splice(0, AT_ONCE).map((grant) => end(grant.grant_id)));
    }
  } catch (error) {
    // The code is used, so the caller cannot repeat the call. It gets the grant by a recovery.
    const why = { reason: null, subject: { account_id } };
    throw new DomainError('outcome_unknown', { grant_id }, error, why);
  }
}

function byConversion(one: ConnectedGrant, other: ConnectedGrant): number {
  return one.created_at - other.created_at || (one.grant_id < other.grant_id ? -1 : 1);
}
