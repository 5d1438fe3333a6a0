import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import type { Givens } from '../condition.ts';
import type { Lease } from '../inputs.ts';
import { leases as kind } from '../kinds.ts';

/** A clock that was further ahead would keep its lease from all others until they come to its time. */
const CLOCKS_APART: Milliseconds = 60_000;

export function leases(db: Adapter) {
  const release = db.remove(
    kind,
    ({ name, holder }: Givens<Lease>) => ({ name, holder }),
    ['name'],
    () => true,
  );
  return {
    /**
     * Whether the lease is free at `now`, or its holder's own. Then it is taken for `lasts`. It may fail, and two
     * holders may have one while the primary changes: it saves work, and decides nothing.
     */
    takeLease: db.modify(
      kind,
      ({ name }: Lease & { now: Milliseconds; lasts: Milliseconds }) => name,
      (found, { name, holder, now, lasts }) => {
        const isFree =
          found === null ||
          found.holder === holder ||
          found.until <= now ||
          found.until > now + lasts + CLOCKS_APART;
        if (!isFree) return { result: false };
        const isMade = (later: Lease) => later.holder === holder;
        return { result: true, put: { name, holder, until: now + lasts }, isMade };
      },
      { isBestEffort: true },
    ),

    /** Only if the holder has it. */
    async releaseLease(lease: Lease): Promise<void> {
      await release(lease);
    },
  };
}
