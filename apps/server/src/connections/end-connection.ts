import type { Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { RevokedRecord } from '../store/records.ts';
import { activeGrants } from './list-connections.ts';

/** When this returns, no process sees one of the grants as active. Idempotent. */
export async function endConnection(
  service: Service,
  { account_id, application_id }: { account_id: string; application_id: string },
  initiator: Initiator,
): Promise<RevokedRecord[]> {
  const { store, clock } = service;
  const ended: RevokedRecord[] = [];
  for await (const { grant_id } of activeGrants(store, { account_id, application_id })) {
    const revocation = { grant_id, application_id, onlyActive: true, now: clock(), initiator };
    const revoked = await store.revokeGrant(revocation);
    // Null if another call has revoked it in between.
    if (revoked !== null) ended.push(revoked);
  }
  return ended;
}
