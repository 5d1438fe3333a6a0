import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { beforeDeadline, outsideRequests } from '@latchkey/domain/request-scope';
import type { CountName, HourCounts } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';

/** Counts what happened, by the hour, for the summary. Adding is cheap: the counts are written later. */
export interface Counts {
  /**
   * A refusal counts only if what its call names exists. Otherwise, strangers could add to the counts.
   *
   * @param at - a time in the hour that it counts for. A decision counts for the hour in which its link
   *   request began. Default: now
   */
  add(name: CountName, count?: number, at?: Milliseconds): void;
  /**
   * What is written, and what this process has not written yet.
   *
   * @param read - nothing is written meanwhile
   */
  withUnwritten<T>(read: () => Promise<T>): Promise<{ written: T; unwritten: HourCounts[] }>;
  /** Never rejects: what could not be written stays. */
  flush(): Promise<void>;
}

const HOUR: Milliseconds = 3_600_000;

export const hourOf = (time: Milliseconds) => Math.floor(time / HOUR) * HOUR;

/** A killed process loses what it counted in this time. */
const WRITE_EVERY: Milliseconds = 60_000;

/** While the database is away, or a clock jumps. The names of an hour are bounded by our own tables. */
const MAX_HOURS = 48;

export interface CountsOptions {
  clock: Clock;
  writeEvery?: Milliseconds | undefined;
  onError(error: unknown): void;
}

export function createCounts(
  store: Pick<Store, 'addCounts'>,
  { clock, writeEvery = WRITE_EVERY, onError }: CountsOptions,
): Counts {
  const unwritten = new Map<Milliseconds, HourCounts['counts']>();
  let timer: NodeJS.Timeout | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  /** A read between the write of a count and its removal from memory would count it twice. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  function add(name: CountName, count = 1, at: Milliseconds = clock()): void {
    if (count === 0) return;
    const hour = hourOf(at);
    let counts = unwritten.get(hour);
    if (counts === undefined) {
      counts = {};
      if (unwritten.size === MAX_HOURS) unwritten.delete(Math.min(...unwritten.keys()));
      unwritten.set(hour, counts);
    }
    counts[name] = (counts[name] ?? 0) + count;
    timer ??= outsideRequests(() => setTimeout(writeInBackground, writeEvery).unref());
  }

  async function writeAll(): Promise<void> {
    for (const [hour, counts] of [...unwritten]) {
      unwritten.delete(hour);
      try {
        await store.addCounts({ hour, counts });
      } catch (error) {
        // If the failed write was made nevertheless, these count twice. Dropping them would lose the
        // counts of every outage.
        for (const [name, count] of Object.entries(counts) as [CountName, number][]) {
          add(name, count, hour);
        }
        throw error;
      }
    }
  }

  function writeInBackground(): void {
    timer = null;
    inTurn(writeAll).catch(onError);
  }

  return {
    add,

    withUnwritten: (read) =>
      beforeDeadline(
        inTurn(async () => {
          const written = await read();
          const hours = [...unwritten].map(([hour, counts]) => ({ hour, counts: { ...counts } }));
          return { written, unwritten: hours };
        }),
      ),

    async flush() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await inTurn(writeAll).catch(onError);
    },
  };
}

/** For trials, and for changes that are made again from a log: they must not count for the summary. */
export const noCounts: Counts = {
  add() {},
  withUnwritten: async (read) => ({ written: await read(), unwritten: [] }),
  async flush() {},
};
