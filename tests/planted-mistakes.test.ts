import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './planted-mistakes/copy-of-tree.ts';
import { mistakes } from './planted-mistakes/mistakes.ts';
import { withMistake } from './planted-mistakes/plant.ts';

// What makes the mistakes, and looks whether they are seen, is planted-mistakes.slow.test.ts.

test.each(mistakes)('the mistake "$name" can still be made', async (mistake) => {
  const { source, wrong } = await withMistake(root, mistake);
  expect(wrong).not.toBe(source);
});

test.each(mistakes)('the mistake "$name" names a test of every day', ({ seenBy }) => {
  expect(existsSync(join(root, seenBy))).toBe(true);
  expect(seenBy).not.toContain('.slow.');
});

test('a mistake that does not fit its source any more is out of date', async () => {
  const [mistake] = mistakes as [(typeof mistakes)[number]];
  const stale = { ...mistake, from: 'what is nowhere' };
  await expect(withMistake(root, stale)).rejects.toThrow('out of date: its text is 0 times');
});

test('each mistake has a name of its own', () => {
  expect(new Set(mistakes.map(({ name }) => name)).size).toBe(mistakes.length);
});
