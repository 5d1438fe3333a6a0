/**
 * Changes all records of a condition, in parts, so that requests run in between.
 *
 * @returns how many this call has changed
 */
export async function changeAll<I>(
  changeSome: (input: I) => Promise<readonly unknown[] | null>,
  input: I,
): Promise<number> {
  let changed = 0;
  for (let some = await changeSome(input); some !== null; some = await changeSome(input)) {
    changed += some.length;
  }
  return changed;
}
