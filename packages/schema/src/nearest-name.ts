// `timeOut` is this far from `timeoutMs`. Unrelated names are farther apart.
const MOST_EDITS = 3;

/** The known name that a mistyped one resembles most; undefined if it resembles none. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((candidate) => distance(name.toLowerCase(), candidate.toLowerCase()));
  const least = Math.min(...distances);
  return least <= MOST_EDITS ? known[distances.indexOf(least)] : undefined;
}

/** The edit distance of two names; 0 if one contains the other. */
function distance(one: string, other: string): number {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length > 2 && long.includes(short)) return 0;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, otherLetter] of [...other].entries()) {
      const replaced = (row[j] as number) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}
