import { expect, test } from 'vitest';
import { createPastClosings } from './past-closings.ts';

test('who is alone is worked on at once', async () => {
  const gather = createPastClosings();
  const done: string[] = [];
  const first = gather(async () => void done.push('first'));
  expect(done).toEqual(['first']);
  await first;
  const second = gather(async () => void done.push('second'));
  expect(done).toEqual(['first', 'second']);
  await second;
});

test('who comes while another is under way is worked on with those who come meanwhile', async () => {
  const gather = createPastClosings();
  const begun: string[] = [];
  let finish = () => {};
  const alone = gather(() => new Promise((resolve) => (finish = resolve)));
  const others = ['a', 'b'].map((name) =>
    gather(async () => {
      begun.push(name);
      await null;
      expect(begun).toEqual(['a', 'b']);
    }),
  );
  expect(begun).toEqual([]);
  await Promise.all(others);
  finish();
  await alone;
});

test('a failure is told, and counts as over', async () => {
  const gather = createPastClosings();
  await expect(gather(() => Promise.reject(new Error('Failed.')))).rejects.toThrow('Failed.');
  let begun = false;
  const next = gather(async () => {
    begun = true;
  });
  expect(begun).toBe(true);
  await next;
});
