import { expect, test } from 'vitest';
import { keepLooking } from './keep-looking.ts';

test('of several problems, each is told once, and again once a look was without it', async () => {
  const looks = [['a', 'b'], ['a', 'b'], ['b'], ['a', 'b']];
  const told: unknown[] = [];
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  async function look() {
    const found = looks.shift();
    if (found === undefined) resolve();
    return found ?? [];
  }
  const end = keepLooking(look, { interval: 1, onError: (problem) => void told.push(problem) });
  await seen;
  await end();
  expect(told).toEqual(['a', 'b', 'a']);
});
