import { expect, onTestFinished, test, vi } from 'vitest';
import { createLoop } from './loop.ts';

function looping(look: (nth: number) => Promise<boolean>, pause = 1) {
  let looks = 0;
  const errors: unknown[] = [];
  const loop = createLoop({
    look: () => look(++looks),
    ...{ every: 1_000_000, pause, onError: (error: unknown) => errors.push(error) },
  });
  loop.start();
  onTestFinished(() => loop.stop());
  return { loop, errors, looked: (count: number) => vi.waitFor(() => expect(looks).toBe(count)) };
}

test('looks again where there is more, where it is woken, and after an error', async () => {
  const { loop, errors, looked } = looping(async (nth) => {
    if (nth === 4) throw new Error('It is down.');
    return nth < 3;
  });
  await looked(3);
  loop.wake();
  await looked(5);
  expect(errors).toHaveLength(1);
});

test('a wake during a look is not lost', async () => {
  const { loop, looked } = looping(async (nth) => {
    if (nth === 1) loop.wake();
    return false;
  });
  await looked(2);
});

test('stops after the look that is under way, without another', async () => {
  const held = Promise.withResolvers<boolean>();
  const { loop, looked } = looping(() => held.promise);
  let hasStopped = false;
  const stopping = loop.stop().then(() => {
    hasStopped = true;
  });
  await looked(1);
  expect(hasStopped).toBe(false);
  held.resolve(true);
  await stopping;
  await looked(1);
});
