import type { Initiator } from '@latchkey/domain/initiator';
import type { RevokedRecord } from '@latchkey/store/records';
import type { ConnectionIds } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { revokeAll } from '../grants/revoke-all.ts';

/** `docs/protocol/limits.md` has it. All grants end, however many there are. */
export const MAX_ENDED_GRANTS = 1_000;

/** @returns the grants that this call revoked, newest first, at most {@link MAX_ENDED_GRANTS} */
export async function endConnection(
  service: Pick<Dependencies, 'store' | 'clock' | 'counts'>,
  connection: ConnectionIds,
  initiator: Initiator,
): Promise<RevokedRecord[]> {
  const ended: RevokedRecord[] = [];
  await revokeAll(service, connection, initiator, (revoked) => {
    const newestFirst = revoked.sort((one, other) => (one.grant_id < other.grant_id ? 1 : -1));
    ended.push(...newestFirst.slice(0, MAX_ENDED_GRANTS - ended.length));
  });
  return ended;
}
