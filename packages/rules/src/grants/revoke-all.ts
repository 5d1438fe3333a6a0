import type { Initiator } from '@latchkey/domain/initiator';
import { endReasonOf } from '@latchkey/store/end-reason';
import type { RevokedRecord } from '@latchkey/store/records';
import type { Parties } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { endCodes } from './end-codes.ts';

/**
 * When this returns, no process sees one of the grants as active, and no code that was issued before
 * becomes one. If it throws, what was done stays done, and a repetition does the rest.
 *
 * @param see - called with the grants of each page
 */
export async function revokeAll(
  { store, clock, counts }: Pick<Dependencies, 'store' | 'clock' | 'counts'>,
  parties: Parties,
  initiator: Initiator,
  see: (revoked: RevokedRecord[]) => void = () => {},
): Promise<{ grants_revoked: number; codes_cancelled: number }> {
  // First the codes: afterwards, no further grant can appear.
  const codes_cancelled = await endCodes(store, parties);
  let grants_revoked = 0;
  for (;;) {
    const revoked = await store.revokeActive({ ...parties, now: clock(), initiator });
    if (revoked === null) return { grants_revoked, codes_cancelled };
    grants_revoked += revoked.length;
    counts.add(`revoked:${endReasonOf(initiator.by)}`, revoked.length);
    see(revoked);
  }
}
