import type { Parties, Store } from '@latchkey/store/store';

// A list of so many is short, and their cancellations run at the same time.
const PAGE = 50;

/**
 * Once this has returned, every code that was issued before is cancelled, or was redeemed before: its
 * grant is in every list of active grants that is read from now on. See decision 57.
 *
 * @param cancel - returns null if the code is no longer pending
 * @returns how many codes this call cancelled
 */
export async function endCodes(
  store: Pick<Store, 'listPendingCodes' | 'cancelCode'>,
  filter: Parties,
  cancel: (grant_id: string) => Promise<unknown> = (grant_id) => store.cancelCode(grant_id),
): Promise<number> {
  let cancelled = 0;
  for (;;) {
    const ids = await store.listPendingCodes(filter, PAGE);
    // A failover may have brought back what the last page no longer found: only an empty list ends it.
    if (ids.length === 0) return cancelled;
    const outcomes = await Promise.all(ids.map(cancel));
    cancelled += outcomes.filter((outcome) => outcome !== null).length;
  }
}
