import { describe, expect, test } from 'vitest';
import { mulberry32 } from '../../../packages/test-kit/src/seeded-random.ts';
import { ratioOver } from './ratio.ts';

type Pair = [first: number, second: number];

describe('the ratio over pairs', () => {
  test('is that of the second figure to the first, whatever the pairs have in common', () => {
    const pairs: Pair[] = [1, 7, 0.2].map((figure) => [figure, figure * 1.05]);
    for (const value of Object.values(ratioOver(pairs))) expect(value).toBeCloseTo(1.05, 12);
  });

  test('is the reciprocal, if the figures of each pair change places', () => {
    const pairs: Pair[] = [
      [2, 2.2],
      [3, 2.9],
      [5, 5.4],
    ];
    const { ratio, low, high } = ratioOver(pairs);
    const swapped = ratioOver(pairs.map(([first, second]): Pair => [second, first]));
    expect(swapped.ratio).toBeCloseTo(1 / ratio, 12);
    expect(swapped.low).toBeCloseTo(1 / high, 12);
    expect(swapped.high).toBeCloseTo(1 / low, 12);
  });

  // The values of every table of Student's distribution.
  test.each([
    [2, 12.706],
    [3, 4.303],
    [4, 3.182],
    [5, 2.776],
    [15, 2.145],
    [16, 2.131],
    [31, 2.042],
    [121, 1.98],
  ])('of %i pairs has the interval of Student’s distribution', (count, quantile) => {
    const pairs = Array.from({ length: count }, (_, index): Pair => [1, Math.exp(index)]);
    const { ratio, high } = ratioOver(pairs);
    // The standard error of 0, 1, 2, … is the root of (count + 1) / 12.
    const error = Math.sqrt((count + 1) / 12);
    expect((Math.log(high) - Math.log(ratio)) / error).toBeCloseTo(quantile, 3);
  });

  test('has an interval that contains the true ratio in 95 of 100 runs', () => {
    const next = mulberry32(21);
    const gaussian = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    let hits = 0;
    const runs = 4000;
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: 5 }, (): Pair => {
        const machine = Math.exp(gaussian());
        return [machine, machine * Math.exp(Math.log(1.02) + 0.05 * gaussian())];
      });
      const { low, high } = ratioOver(pairs);
      if (low < 1.02 && 1.02 < high) hits++;
    }
    expect(hits / runs).toBeCloseTo(0.95, 1.7);
  });
});
