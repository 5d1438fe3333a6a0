import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { CountedPlace, Store } from '@latchkey/store/store';
import type { InSteps } from '../work/pace.ts';
import type { Counts } from './counts.ts';

const DAY: Milliseconds = 86_400_000;
// An hour less than a day, so that a count is never older than a day.
const COUNT_EVERY: Milliseconds = DAY - 3_600_000;

/** Counts the active grants again if the last count is nearly a day old. */
export async function countLiveGrants(
  store: Pick<Store, 'findLiveCount' | 'countActiveGrants' | 'keepLiveCount'>,
  { clock, counts, inSteps }: { clock: Clock; counts: Pick<Counts, 'flush'>; inSteps: InSteps },
): Promise<void> {
  const live = await store.findLiveCount();
  // A clock may have been set back since.
  if (live !== null && Math.abs(clock() - live.counted_at) < COUNT_EVERY) return;
  // Changes that are counted only in memory so far would be added to the new count again.
  await counts.flush();
  const counted_at = clock();
  let count = 0;
  let place: CountedPlace | null = null;
  await inSteps(async (limit) => {
    const part = await store.countActiveGrants({ after: place, limit });
    count += part.count;
    place = part.after;
    return place !== null;
  });
  await store.keepLiveCount({ count, counted_at });
}
