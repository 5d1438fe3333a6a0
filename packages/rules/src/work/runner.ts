import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { outsideRequests, requestScope } from '@latchkey/domain/request-scope';
import { endReasonOf } from '@latchkey/store/end-reason';
import { WORK_STEPS, type Work, type WorkStep } from '@latchkey/store/endings';
import type { EndReason, RevokedRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Logger } from 'pino';
import type { Counts } from '../summary/counts.ts';
import { createLeases } from './lease.ts';
import { createPace, type InSteps, Stopped } from './pace.ts';

/** `docs/protocol/limits.md` has it. All grants end, however many there are. */
export const MAX_ENDED_GRANTS = 1_000;

/** An answer waits so long for what follows its mark. */
export const WAITS_FOR_REST: Milliseconds = 5_000;

const LOOK_EVERY: Milliseconds = 5_000;
const FOUND_AT_ONCE = 1_000;

/** So often a process looks whether a chore is left, such as by one that was killed. */
const CHORE_LOOK_EVERY: Milliseconds = 30_000;

/** So often an answer waits for who holds its work up. */
const HELD_TRIES = 5;
const HELD_PAUSE: Milliseconds = 10;

/** Others look only every few seconds, so that most work is done without a lease. */
const LEASE_AFTER: Milliseconds = 1_000;

/** What this process has done of a piece of work. */
export interface Progress {
  /** Whether nothing of it is left, for any process. */
  isDone: boolean;
  grants_revoked: number;
  codes_cancelled: number;
  /** Newest first, at most {@link MAX_ENDED_GRANTS}. */
  revoked: readonly RevokedRecord[];
}

/** Done again and again, by one of the processes. */
export interface Chore {
  name: string;
  every: Milliseconds;
  run(): Promise<void>;
}

/** Does all work that outlives a request. */
export interface Runner {
  /**
   * Does what a mark has begun. Never rejects: the mark holds, and any process goes on.
   *
   * @param work - null if there was nothing to mark
   * @returns when it is done, held up, has failed, or has taken as long as an answer waits. It goes on meanwhile
   */
  run(work: Work | null): Promise<Progress>;
  /** For chores. */
  inSteps: InSteps;
  /** Does what other processes have left, and the chores. */
  watch(chores: readonly Chore[]): void;
  close(): Promise<void>;
}

export interface RunnerOptions {
  /** Of the driver of the store. */
  inProcess: boolean;
  clock: Clock;
  counts: Pick<Counts, 'add'>;
  log: Pick<Logger, 'info'>;
  onError(error: unknown): void;
  /** How long an answer waits. Default: 5 s; a command waits until the work is done. */
  waits?: Milliseconds | undefined;
  /** Default: 5 s. For tests. */
  lookEvery?: Milliseconds | undefined;
}

interface Run {
  progress: Progress;
  /** It is done, held up, or has failed. */
  pauses: PromiseWithResolvers<void>;
  end: Promise<void>;
}

type Working = Pick<Store, 'listWork' | 'doStep' | 'finishWork' | 'takeLease' | 'releaseLease'>;

export function createRunner(store: Working, options: RunnerOptions): Runner {
  const { inProcess, clock, counts, log, onError } = options;
  const { waits = WAITS_FOR_REST, lookEvery = LOOK_EVERY } = options;
  const { inSteps, stop } = createPace({ inProcess });
  const leases = createLeases(store, clock);
  const runs = new Map<string, Run>();
  const timers: NodeJS.Timeout[] = [];
  const inBackground = new Set<Promise<void>>();
  let nextLook = Promise.withResolvers<void>();
  let isClosed = false;

  function background(work: () => Promise<unknown>): Promise<void> {
    const running: Promise<void> = outsideRequests(work)
      .then(() => {})
      .catch((error) => {
        if (!isClosed && !(error instanceof Stopped)) onError(error);
      })
      .finally(() => inBackground.delete(running));
    inBackground.add(running);
    return running;
  }

  async function doStep(work: Work, step: WorkStep, run: Run): Promise<void> {
    let isHeld: boolean;
    let tries = 1;
    do {
      isHeld = false;
      await inSteps(async (limit) => {
        const done = await store.doStep(work, step, limit);
        counts.add(`revoked:${reasonOf(work)}`, done.revoked.length);
        note(run.progress, done);
        isHeld = done.isHeld === true;
        return !done.isOver && !isHeld;
      });
      if (isHeld) {
        // Most readers of a log are quick.
        if (tries < HELD_TRIES) await sleep(HELD_PAUSE);
        else {
          run.pauses.resolve();
          await nextLook.promise;
        }
        tries += 1;
      }
    } while (isHeld);
  }

  async function toItsEnd(work: Work, run: Run): Promise<void> {
    const leasing = setTimeout(
      () => background(() => leases.during(nameOf(work), () => run.end)),
      LEASE_AFTER,
    ).unref();
    try {
      for (const step of WORK_STEPS[work.kind]) await doStep(work, step, run);
      await store.finishWork(work);
      run.progress.isDone = true;
      logEnd(work, run.progress);
    } finally {
      clearTimeout(leasing);
      runs.delete(nameOf(work));
      run.pauses.resolve();
    }
  }

  function begin(work: Work): Run {
    const progress = { isDone: false, grants_revoked: 0, codes_cancelled: 0, revoked: [] };
    const run: Run = { progress, pauses: Promise.withResolvers(), end: Promise.resolve() };
    runs.set(nameOf(work), run);
    run.end = background(() => toItsEnd(work, run));
    return run;
  }

  function logEnd(work: Work, { grants_revoked, codes_cancelled }: Progress): void {
    const { kind, account_id, application_id, at, by } = work;
    log.info(
      {
        ...{ kind, ...(account_id && { account_id }), ...(application_id && { application_id }) },
        ...{ grants_revoked, codes_cancelled, seconds: Math.max(clock() - at, 0) / 1_000 },
        request_id: by.request_id,
      },
      'work',
    );
  }

  async function look(): Promise<void> {
    nextLook.resolve();
    nextLook = Promise.withResolvers();
    for (const work of await store.listWork(FOUND_AT_ONCE)) {
      if (isClosed) return;
      if (runs.has(nameOf(work))) continue;
      if (await leases.take(nameOf(work))) begin(work);
    }
  }

  function repeat(every: Milliseconds, work: () => Promise<void>): void {
    let isRunning = false;
    const start = async () => {
      if (isRunning) return;
      isRunning = true;
      await background(work);
      isRunning = false;
    };
    void start();
    timers.push(setInterval(start, every).unref());
  }

  return {
    inSteps,

    async run(work) {
      if (work === null || work.is_done) {
        return { isDone: true, grants_revoked: 0, codes_cancelled: 0, revoked: [] };
      }
      const { progress, pauses } = runs.get(nameOf(work)) ?? begin(work);
      await within(pauses.promise, Math.min(waits, timeLeft()));
      return { ...progress };
    },

    watch(chores) {
      repeat(lookEvery, look);
      for (const { name, every, run } of chores) {
        const lookEvery = Math.min(every, CHORE_LOOK_EVERY);
        let dueAt = 0;
        repeat(lookEvery, async () => {
          const now = performance.now();
          if (now < dueAt) return;
          const runIt = () => {
            // A timer may fire early.
            dueAt = now + every - lookEvery / 2;
            return run();
          };
          // No other process does it before it is due again.
          await leases.during(`chore:${name}`, runIt, every - LEASE_AFTER);
        });
      }
    },

    async close() {
      isClosed = true;
      stop();
      nextLook.resolve();
      for (const timer of timers) clearInterval(timer);
      await Promise.all(inBackground);
    },
  };
}

const nameOf = ({ kind, account_id, application_id, before }: Work) =>
  ['work', kind, account_id ?? '-', application_id ?? '-', before].join(':');

function reasonOf({ kind, by }: Work): EndReason {
  if (kind === 'erasure') return 'account_erased';
  return kind === 'deletion' ? 'application_deleted' : endReasonOf(by.by);
}

function note(
  progress: Progress,
  { revoked, codes_cancelled }: Pick<Progress, 'revoked' | 'codes_cancelled'>,
): void {
  progress.grants_revoked += revoked.length;
  progress.codes_cancelled += codes_cancelled;
  const newestFirst = revoked.toSorted((one, other) => (one.grant_id < other.grant_id ? 1 : -1));
  progress.revoked = [...progress.revoked, ...newestFirst].slice(0, MAX_ENDED_GRANTS);
}

/** Of the request; infinite outside of one. */
function timeLeft(): Milliseconds {
  const scope = requestScope();
  return scope === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(scope.endsAt - performance.now(), 0);
}

async function within(work: Promise<void>, time: Milliseconds): Promise<void> {
  if (time === Number.POSITIVE_INFINITY) return work;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, time);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
