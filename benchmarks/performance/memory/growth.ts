/**
 * How much of something there is at most in the last half of a run, in parts of the most in its
 * second quarter: about 1 where it is flat, 2 where it rises by the same with every request. The
 * first quarter is left out: there the heap finds its size.
 */
export function growth(values: readonly number[]): number {
  const [quarter, half] = [values.length / 4, values.length / 2];
  return Math.max(...values.slice(half)) / Math.max(...values.slice(quarter, half));
}
