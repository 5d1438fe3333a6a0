import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';

const NAME = 'deliveries';
/** What happens after the holder was killed is told so much later. */
const LASTS: Milliseconds = 2_000;
/** So long a process takes it that nobody else is there, once nobody has taken what it gave back. */
const ALONE_LASTS: Milliseconds = 30_000;

/**
 * Makes deliveries of events. Of several processes one does it: who holds a lease. A process whose requests take its
 * time gives it back.
 *
 * @param now - a clock that never goes back, in milliseconds
 */
export function createMaker(
  store: Pick<Store, 'makeDeliveries' | 'takeLease' | 'releaseLease'>,
  {
    clock,
    holder,
    every,
    everyIfBusy,
    now = () => performance.now(),
  }: {
    clock: Clock;
    /** Tells the processes apart. */
    holder: string;
    every: Milliseconds;
    everyIfBusy: Milliseconds;
    now?: () => number;
  },
) {
  const LONG_AGO = Number.NEGATIVE_INFINITY;
  let madeAt = LONG_AGO;
  let takenAt = LONG_AGO;
  let refusedAt = LONG_AGO;
  let givenBackAt = Number.POSITIVE_INFINITY;
  let aloneUntil = LONG_AGO;

  const isAlone = () => now() < aloneUntil;

  async function mayMake(): Promise<boolean> {
    const at = now();
    if (at - takenAt < LASTS / 2) return true;
    if (at - refusedAt < LASTS / 4) return false;
    const isTaken = await store.takeLease({ name: NAME, holder, now: clock(), lasts: LASTS });
    takenAt = isTaken ? at : LONG_AGO;
    refusedAt = isTaken ? LONG_AGO : at;
    if (!isTaken) aloneUntil = LONG_AGO;
    else if (at - givenBackAt >= everyIfBusy) aloneUntil = at + ALONE_LASTS;
    givenBackAt = Number.POSITIVE_INFINITY;
    return isTaken;
  }

  async function giveBack(): Promise<void> {
    // One that has lapsed too: the clock of another process may be behind.
    if (takenAt === LONG_AGO) return;
    takenAt = LONG_AGO;
    givenBackAt = now();
    await store.releaseLease({ name: NAME, holder });
  }

  return {
    /** @returns whether there may be more to make at once */
    async make(isBusy: boolean): Promise<boolean> {
      const leaves = isBusy && !isAlone();
      if (now() - madeAt < (leaves ? everyIfBusy : every)) return false;
      const hasMore = await store.makeDeliveries(clock(), mayMake);
      const goesOn = hasMore && !isBusy;
      madeAt = goesOn ? LONG_AGO : now();
      if (leaves) await giveBack();
      return goesOn;
    },

    /** Whether another process makes deliveries now. */
    isOthers: (): boolean => now() - refusedAt < LASTS,

    /** Whether no other process is there that would. */
    isAlone,

    giveBack,
  };
}
