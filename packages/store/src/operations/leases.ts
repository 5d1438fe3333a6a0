import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import type { Givens } from '../condition.ts';
import { leases as kind } from '../kinds.ts';
import type { Lease, Store } from '../store.ts';

/** A clock that was further ahead would keep its lease from all others until they come to its time. */
const CLOCKS_APART: Milliseconds = 60_000;

export function leases(db: Adapter): Pick<Store, 'takeLease' | 'releaseLease'> {
  const release = db.remove(
    kind,
    ({ name, holder }: Givens<Lease>) => ({ name, holder }),
    ['name'],
    () => true,
  );
  return {
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

    async releaseLease(lease) {
      await release(lease);
    },
  };
}
