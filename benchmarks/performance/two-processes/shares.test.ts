import { expect, test } from 'vitest';
import { greatestRise, leastShare } from './shares.ts';

test('the rise is that of the server that it is worst for', () => {
  expect(greatestRise([1, 2], [1.5, 2])).toBe(1.5);
  expect(greatestRise([2, 1], [1, 0.9])).toBe(0.9);
});

test('the share is that of the round in which one got least, whichever it is', () => {
  const rounds = [
    [100, 80, 100],
    [90, 100, 25],
  ];
  expect(leastShare(rounds)).toBe(0.25);
});
