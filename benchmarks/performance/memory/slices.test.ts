import { expect, test } from 'vitest';
import { growth } from './slices.ts';

test.each([
  ['flat', [5, 5, 5, 5, 5, 5, 5, 5], 1],
  ['flat after the first quarter', [1, 9, 5, 5, 5, 5, 5, 5], 1],
  ['growing linearly', [1, 2, 3, 4, 5, 6, 7, 8], 2],
  ['high for a moment', [5, 5, 5, 5, 5, 10, 5, 5], 2],
])('the growth of values that are %s', (_, values, ratio) => {
  expect(growth(values)).toBe(ratio);
});
