import { endCodes } from '../grants/end-codes.ts';
import type { Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { RevokedRecord } from '../store/records.ts';
import type { ConnectionIds } from '../store/store.ts';

/** `docs/protocol/limits.md` has it. All grants end, however many there are. */
export const MAX_ENDED_GRANTS = 1_000;

/**
 * When this returns, no process sees one of the grants as active, and no code that was issued before
 * becomes one. Idempotent.
 *
 * @returns the grants that this call revoked, newest first, at most {@link MAX_ENDED_GRANTS}
 */
export async function endConnection(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  connection: ConnectionIds,
  initiator: Initiator,
): Promise<RevokedRecord[]> {
  // First the codes: afterwards, no further grant can appear.
  await endCodes(store, connection);
  const ended: RevokedRecord[] = [];
  let some: RevokedRecord[] | null;
  do {
    some = await store.endConnection({ ...connection, now: clock(), initiator });
    const newestFirst = (some ?? []).sort((one, other) => (one.grant_id < other.grant_id ? 1 : -1));
    ended.push(...newestFirst.slice(0, MAX_ENDED_GRANTS - ended.length));
  } while (some !== null);
  return ended;
}
