import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPace, Stopped } from './pace.ts';

test('it rests for as long as a step took', async () => {
  const { inSteps } = createPace({ inProcess: true });
  const rests: { rest: number; took: number }[] = [];
  let endedAt = performance.now();
  let took = 0;
  let left = 5;
  await inSteps(async () => {
    if (took > 0) rests.push({ rest: performance.now() - endedAt, took });
    const beganAt = performance.now();
    await sleep(10);
    endedAt = performance.now();
    took = endedAt - beganAt;
    left -= 1;
    return left > 0;
  });
  expect(rests).toHaveLength(4);
  // A timer may fire a millisecond early.
  for (const { rest, took } of rests) expect(rest).toBeGreaterThan(took - 2);
});

test('short steps have no rest each', async () => {
  let now = 0;
  let rested = 0;
  const { inSteps } = createPace({ inProcess: true, monotonic: () => now });
  let left = 9;
  await inSteps(async () => {
    const beganAt = performance.now();
    setImmediate(() => {
      rested += performance.now() - beganAt;
    });
    now += 0.5;
    left -= 1;
    return left > 0;
  });
  expect(now).toBe(4.5);
  expect(rested).toBe(0);
});

test('steps of several pieces of work do not put the rest off by joining', async () => {
  const { inSteps, stop } = createPace({ inProcess: true });
  let running = 0;
  let quietSince = performance.now();
  let longest = 0;
  const work = () => {
    let left = 8;
    return inSteps(async () => {
      if (running === 0) longest = Math.max(longest, performance.now() - quietSince);
      running += 1;
      await sleep(4);
      running -= 1;
      if (running === 0) quietSince = performance.now();
      left -= 1;
      return left > 0;
    });
  };
  const works = [work()];
  await sleep(2);
  works.push(work());
  await Promise.all(works);
  stop();
  expect(longest).toBeGreaterThan(4);
});

test('of many pieces of work 8 make a step together', async () => {
  const { inSteps } = createPace({ inProcess: true });
  let running = 0;
  let most = 0;
  const work = (_: unknown, number: number) => {
    let left = 2;
    return inSteps(async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(number % 3);
      running -= 1;
      left -= 1;
      return left > 0;
    });
  };
  await Promise.all(Array.from({ length: 100 }, work));
  expect(most).toBe(8);
});

test('a step takes on as much as it can do in 5 ms, and what is left is done', async () => {
  let now = 0;
  const { inSteps } = createPace({ inProcess: true, monotonic: () => now });
  const limits: number[] = [];
  let left = 3_000;
  await inSteps(async (limit) => {
    limits.push(limit);
    // At first 0.02 ms each, then five times as much.
    now += limit * (left > 1_500 ? 0.02 : 0.1);
    left -= limit;
    return left > 0;
  });
  expect(limits.slice(0, 3)).toEqual([100, 200, 250]);
  expect(limits.slice(-3, -1)).toEqual([50, 50]);
});

test('a step takes on no less than pays for its write, or its round trip', async () => {
  for (const [inProcess, least] of [
    [true, 8],
    [false, 100],
  ] as const) {
    let now = 0;
    const { inSteps } = createPace({ inProcess, monotonic: () => now });
    const limits: number[] = [];
    await inSteps(async (limit) => {
      limits.push(limit);
      now += 50;
      return limits.length < 4;
    });
    expect(limits.at(-1)).toBe(least);
  }
});

test('no step begins once it is stopped, and one that runs comes to its end', async () => {
  const { inSteps, stop } = createPace({ inProcess: true });
  const done: number[] = [];
  const working = inSteps(async () => {
    await sleep(20);
    done.push(done.length);
    return true;
  });
  stop();
  await expect(working).rejects.toBeInstanceOf(Stopped);
  expect(done).toEqual([0]);
});
