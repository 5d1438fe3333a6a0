import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';

/** A step aims at so much of the main thread; on MongoDB, of the primary. */
const AIM: Milliseconds = 5;

/** Less would pay for a commit each. */
const LEAST = 8;
/** Of a database that is a round trip away, which alone takes longer than the aim. */
const LEAST_REMOTE = 100;
const MOST = 1_000;
const FIRST = 100;
/** After a step that waited for a database, such as in a failover. */
const LONGEST_REST: Milliseconds = 500;
/** So many steps run together. After a restart, a thousand pieces of work may have one to make. */
const TOGETHER = 8;

export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/**
 * Makes steps until one returns false. Each takes on at most `limit` records, as many as was right for the one before.
 *
 * @throws Stopped once the pace is stopped
 */
export type InSteps = (step: (limit: number) => Promise<boolean>) => Promise<void>;

/** Takes turns with requests: what runs behind rests for as long as it worked. */
export interface Pace {
  readonly inSteps: InSteps;
  /** The steps that run come to their ends; no other one begins. */
  stop(): void;
}

/**
 * @param options.inProcess - of the driver of the store
 * @param options.monotonic - in milliseconds. Default: that of the process
 */
export function createPace({
  inProcess,
  monotonic = () => performance.now(),
}: {
  inProcess: boolean;
  monotonic?: Clock;
}): Pace {
  const least = inProcess ? LEAST : LEAST_REMOTE;
  const stopped = new AbortController();
  let running = 0;
  let beganAt = 0;
  /** Since the last rest. */
  let worked: Milliseconds = 0;
  let rest: Promise<unknown> | null = null;
  let quiet = Promise.withResolvers<void>();

  const isFull = () =>
    running >= TOGETHER || (running > 0 && worked + monotonic() - beganAt >= AIM);

  /** Waits for its turn. */
  async function begin(): Promise<void> {
    for (;;) {
      if (stopped.signal.aborted) throw new Stopped();
      if (rest !== null) await rest;
      // Steps that keep joining would put the rest off.
      else if (isFull()) await quiet.promise;
      else break;
    }
    // Without an await in between, since all who wait go on at once.
    running += 1;
    if (running > 1) return;
    beganAt = monotonic();
    quiet = Promise.withResolvers();
  }

  function end(): void {
    running -= 1;
    if (running > 0) return;
    worked += monotonic() - beganAt;
    if (worked >= AIM) {
      rest = sleep(Math.min(worked, LONGEST_REST), undefined, { signal: stopped.signal })
        .catch(() => {})
        .finally(() => {
          rest = null;
        });
      worked = 0;
    }
    quiet.resolve();
  }

  /** Steps of several pieces of work run together, so that they share a commit. */
  async function turn(step: () => Promise<boolean>): Promise<boolean> {
    await begin();
    try {
      return await step();
    } finally {
      end();
    }
  }

  return {
    async inSteps(step) {
      let limit = FIRST;
      let isMore = true;
      while (isMore) {
        isMore = await turn(async () => {
          const startedAt = monotonic();
          const more = await step(limit);
          limit = Math.max(least, limitAfter(limit, monotonic() - startedAt));
          return more;
        });
      }
    },

    stop: () => stopped.abort(),
  };
}

/** At most twice as much: one quick step proves little. */
function limitAfter(limit: number, took: Milliseconds): number {
  const factor = took * 2 <= AIM ? 2 : AIM / took;
  return Math.round(Math.min(limit * factor, MOST));
}
