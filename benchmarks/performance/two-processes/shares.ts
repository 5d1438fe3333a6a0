/** How much more one takes than before: the greatest ratio of an `after` to its `before`. */
export function greatestRise(before: readonly number[], after: readonly number[]): number {
  return Math.max(...after.map((value, index) => value / (before[index] ?? Number.NaN)));
}

/**
 * The least that the slower of several got in any round, in parts of what the faster got in it.
 *
 * @param throughputs - of each, by round
 */
export function leastShare(throughputs: readonly (readonly number[])[]): number {
  const [first = []] = throughputs;
  const shares = first.map((_, round) => {
    const inRound = throughputs.map((all) => all[round] ?? 0);
    return Math.min(...inRound) / Math.max(...inRound);
  });
  return Math.min(...shares);
}
