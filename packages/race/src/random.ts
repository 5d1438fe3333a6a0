/** Returns numbers from 0 to below 1. The same seed gives the same numbers. */
export type Random = () => number;

/** Random numbers of one row, so that it can be repeated alone. Mulberry32 by Tommy Ettinger. */
export function randomOf(seed: number, row: string): Random {
  let state = seed;
  for (const character of row) state = Math.imul(state, 31) + character.charCodeAt(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same values in another order (Fisher-Yates). */
export function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  const copy = [...values];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other] as Value, copy[last] as Value];
  }
  return copy;
}
