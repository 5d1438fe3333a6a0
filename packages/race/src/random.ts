import { createHash } from 'node:crypto';

/** Returns numbers from 0 to below 1. */
export type Random = () => number;

/** The same seed gives a row the same numbers, also where it is measured alone. */
export function randomOf(seed: number, row: string): Random {
  let drawn = 0;
  return () => {
    const digest = createHash('sha256').update(`${seed} ${row} ${drawn++}`).digest();
    return digest.readUInt32BE() / 2 ** 32;
  };
}

/** The same values in another order. */
export function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  return values
    .map((value) => ({ value, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}
