import type { Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { RevokedRecord } from '../store/records.ts';
import type { ConnectionIds } from '../store/store.ts';

/**
 * When this returns, no process sees one of the grants as active. Idempotent.
 *
 * @returns the grants that this call has revoked, newest first
 */
export async function endConnection(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  connection: ConnectionIds,
  initiator: Initiator,
): Promise<RevokedRecord[]> {
  const ended: RevokedRecord[] = [];
  let some: RevokedRecord[] | null;
  do {
    some = await store.endConnection({ ...connection, now: clock(), initiator });
    ended.push(...(some ?? []));
  } while (some !== null);
  return ended.sort((one, other) => (one.grant_id < other.grant_id ? 1 : -1));
}
