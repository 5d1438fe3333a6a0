/** A ratio over pairs, and the interval that contains the true one in 95 of 100 runs. */
export interface Ratio {
  ratio: number;
  low: number;
  high: number;
}

/**
 * The ratio of the second figure to the first. Each pair gives one log-ratio. The ratio is that of their
 * mean, so the geometric mean of the pairs' ratios; the interval is Student's, with one degree of freedom
 * less than there are pairs.
 */
export function ratioOver(pairs: readonly (readonly [first: number, second: number])[]): Ratio {
  const logs = pairs.map(([first, second]) => Math.log(second / first));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const freedom = logs.length - 1;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / freedom;
  const half = studentQuantile(freedom) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

const CONFIDENCE = 0.95;

/** The t within which, on either side of 0, Student's distribution has 95 % of its probability. */
function studentQuantile(freedom: number): number {
  // By bisection over the angle of which t is the tangent times the root of the degrees of freedom.
  let [low, high] = [0, Math.PI / 2];
  while (high - low > 1e-12) {
    const middle = (low + high) / 2;
    if (probabilityWithin(middle, freedom) < CONFIDENCE) low = middle;
    else high = middle;
  }
  return Math.tan(low) * Math.sqrt(freedom);
}

/** The probability between -t and t: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function probabilityWithin(angle: number, freedom: number): number {
  const isOdd = freedom % 2 === 1;
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  let term = isOdd ? cosine : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let index = isOdd ? 3 : 2; index < freedom; index += 2) {
    term *= ((index - 1) / index) * cosine ** 2;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}
