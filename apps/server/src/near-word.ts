/** A change adds, leaves out or replaces a letter, or swaps two neighbours. */
export function isWithin(changes: number, left: string, right: string): boolean {
  if (left === right) return true;
  if (changes === 0) return false;
  let at = 0;
  while (left[at] === right[at]) at++;
  const rest = (leftLetters: number, rightLetters: number) =>
    isWithin(changes - 1, left.slice(at + leftLetters), right.slice(at + rightLetters));
  const areSwapped = left[at] === right[at + 1] && left[at + 1] === right[at];
  return rest(1, 0) || rest(0, 1) || rest(1, 1) || (areSwapped && rest(2, 2));
}
