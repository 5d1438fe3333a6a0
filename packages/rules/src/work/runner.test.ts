import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import { inRequest } from '@latchkey/domain/request-scope';
import type { Work, WorkStep } from '@latchkey/store/endings';
import type { RevokedRecord } from '@latchkey/store/records';
import type { Done, Store } from '@latchkey/store/store';
import { afterEach, expect, test, vi } from 'vitest';
import { createRunner, MAX_ENDED_GRANTS, type Runner, type RunnerOptions } from './runner.ts';

const work: Work = {
  ...{ kind: 'revocation', account_id: 'a', application_id: null, before: 7, at: 0 },
  by: { request_id: 'r', by: 'operator', secret_id: null },
};

const grant = (number: number): RevokedRecord => ({
  ...{ grant_id: String(number).padStart(5, '0'), application_id: 'b' },
  ...{ created_at: 0, revoked_at: 0 },
});

const OVER: Done = { isOver: true, changed: 0, revoked: [], codes_cancelled: 0 };

type Step = (step: WorkStep, limit: number) => Promise<Done> | Done;

let runners: Runner[] = [];
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.close()));
  runners = [];
});

/** Processes on a database whose steps are these. What is finished is no longer listed. */
function database(doStep: Step, begun = work) {
  const unfinished = new Set([begun]);
  const holders = new Map<string, { holder: string; until: number }>();
  const done: string[] = [];
  const store = {
    listWork: async () => [...unfinished],
    async doStep(_work: Work, step: WorkStep, limit: number) {
      const result = await doStep(step, limit);
      done.push(step);
      return result;
    },
    async finishWork() {
      done.push('finish');
      unfinished.clear();
    },
    async takeLease({ name, holder, now, lasts }: Parameters<Store['takeLease']>[0]) {
      const found = holders.get(name);
      const isFree =
        found === undefined ||
        found.holder === holder ||
        found.until <= now ||
        found.until > now + lasts + 60_000;
      if (isFree) holders.set(name, { holder, until: now + lasts });
      return isFree;
    },
    async releaseLease({ name }: { name: string }) {
      holders.delete(name);
    },
  };
  const lines: object[] = [];
  const counted: [string, number | undefined][] = [];
  const errors: unknown[] = [];
  function start(options: Partial<RunnerOptions> = {}, isAlive = () => true): Runner {
    const takeLease: typeof store.takeLease = async (lease) => isAlive() && store.takeLease(lease);
    const runner = createRunner(
      { ...store, takeLease },
      {
        inProcess: true,
        clock: () => 1_500,
        counts: { add: (name, count) => void (count !== 0 && counted.push([name, count])) },
        log: {
          info: (members: object) => void lines.push(members),
        } as unknown as RunnerOptions['log'],
        onError: (error) => errors.push(error),
        lookEvery: 20,
        ...options,
      },
    );
    runners.push(runner);
    return runner;
  }
  return { start, done, lines, counted, errors, holders };
}

/** So many grants, in parts. */
function grants(count: number): Step {
  let left = count;
  return (step, limit) => {
    if (step !== 'grants' || left === 0) return OVER;
    const some = Math.min(left, limit);
    const revoked = Array.from({ length: some }, (_, index) => grant(left - index));
    left -= some;
    return { ...OVER, isOver: false, changed: some, revoked };
  };
}

test('it does the steps in their order, counts what is written down, and logs the end', async () => {
  const { start, done, lines, counted } = database(grants(3));
  const { revoked, ...progress } = await start().run(work);
  expect(progress).toEqual({ isDone: true, grants_revoked: 3, codes_cancelled: 0 });
  expect(revoked.map(({ grant_id }) => grant_id)).toEqual(['00003', '00002', '00001']);
  expect(done).toEqual(['grants', 'grants', 'finish']);
  expect(counted).toEqual([['revoked:host', 3]]);
  const of = { kind: 'revocation', account_id: 'a', request_id: 'r' };
  expect(lines).toEqual([{ ...of, grants_revoked: 3, codes_cancelled: 0, seconds: 1.5 }]);
});

test('of many grants, it names the first 1,000, and ends all', async () => {
  const { start } = database(grants(1_250));
  const { grants_revoked, revoked } = await start().run(work);
  expect(grants_revoked).toBe(1_250);
  expect(revoked).toHaveLength(MAX_ENDED_GRANTS);
});

test.each([
  ['nothing marked', null],
  ['a mark whose work is done', { ...work, is_done: true as const }],
])('%s is nothing to do', async (_, of) => {
  const { start, done } = database(grants(1));
  expect(await start().run(of)).toMatchObject({ isDone: true, grants_revoked: 0 });
  expect(done).toEqual([]);
});

test.each([
  ['its time', undefined],
  ['the time of its request', 30],
])('an answer waits for no longer than %s, and the work goes on', async (_, deadline) => {
  const blocked = Promise.withResolvers<Done>();
  const { start, lines } = database(() => blocked.promise);
  const runner = start({ waits: deadline === undefined ? 30 : 600_000 });
  const endsAt = performance.now() + (deadline ?? 600_000);
  const { isDone } = await inRequest(() => runner.run(work), { endsAt });
  expect(isDone).toBe(false);
  blocked.resolve(OVER);
  await vi.waitFor(() => expect(lines).toHaveLength(1));
});

test('a failure after the mark is no error of the answer, and the next look goes on', async () => {
  let fails = true;
  const { start, errors, lines } = database(() => {
    if (fails) throw new DomainError('store_unavailable');
    return OVER;
  });
  const runner = start();
  expect(await runner.run(work)).toMatchObject({ isDone: false });
  expect(errors).toHaveLength(1);
  fails = false;
  runner.watch([]);
  await vi.waitFor(() => expect(lines).toHaveLength(1));
});

test('work that is held up delays no answer, and goes on where it was', async () => {
  let isHeld = true;
  const erasure: Work = { ...work, kind: 'erasure' };
  const { start, done, lines } = database(
    (step) => (step === 'links' && isHeld ? { ...OVER, isOver: false, isHeld: true } : OVER),
    erasure,
  );
  const runner = start({ waits: 600_000 });
  expect(await runner.run(erasure)).toMatchObject({ isDone: false });
  isHeld = false;
  runner.watch([]);
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(done.filter((step) => step !== 'links')).toEqual([
    ...['pages', 'messages', 'grants', 'names', 'log', 'finish'],
  ]);
});

test('of processes that look, one does what another has left', async () => {
  const { start, done, lines, holders } = database(grants(0));
  holders.set('work:revocation:a:-:7', { holder: 'a process that was killed', until: 9_000 });
  for (const runner of [start(), start()]) runner.watch([]);
  await sleep(60);
  expect(done).toEqual([]);
  // Its lease is over.
  holders.clear();
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  await sleep(60);
  expect(done).toEqual(['grants', 'finish']);
});

test('of processes, one does a chore when it is due', async () => {
  const { start } = database(grants(0));
  const run = vi.fn(async () => {});
  for (const runner of [start(), start()]) {
    runner.watch([{ name: 'a', every: 50_000, run }]);
    await sleep(30);
  }
  expect(run).toHaveBeenCalledTimes(1);
});

test('a chore is begun within 60 s of a kill, however seldom it is due', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const clock = () => performance.now();
  const every = 1_800_000;
  const { start } = database(grants(0));
  const begun: string[] = [];
  const killed = Promise.withResolvers<void>();
  let isAlive = true;
  const watch = (name: string, runner: Runner, work: Promise<void>) =>
    runner.watch([
      {
        ...{ name: 'a', every },
        run() {
          begun.push(name);
          return work;
        },
      },
    ]);
  const pass = async (time: number) => {
    for (const end = clock() + time; clock() < end; ) await vi.advanceTimersByTimeAsync(1_000);
  };
  try {
    const one = start({ clock, lookEvery: every }, () => isAlive);
    watch('one', one, killed.promise);
    await pass(10_000);
    watch('two', start({ clock, lookEvery: every }), Promise.resolve());
    // It is renewed for as long as it works.
    await pass(300_000);
    expect(begun).toEqual(['one']);

    isAlive = false;
    await pass(60_000);
    expect(begun).toEqual(['one', 'two']);
    watch('three', start({ clock, lookEvery: every }), Promise.resolve());
    await pass(every - 60_000);
    expect(begun).toHaveLength(2);
    await pass(60_000);
    expect(begun).toHaveLength(3);
  } finally {
    killed.resolve();
    vi.useRealTimers();
  }
});
