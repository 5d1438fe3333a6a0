import { expect, test } from 'vitest';
import { growth } from './growth.ts';

test.each([
  ['flat', [5, 5, 5, 5, 5, 5, 5, 5], 1],
  ['flat once the heap has its size', [1, 9, 5, 5, 5, 5, 5, 5], 1],
  ['rising with each request', [1, 2, 3, 4, 5, 6, 7, 8], 2],
  ['rising for a moment', [5, 5, 5, 5, 5, 10, 5, 5], 2],
])('tells what is %s', (_, values, ratio) => {
  expect(growth(values)).toBe(ratio);
});
