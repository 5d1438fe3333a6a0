import { randomInt } from 'node:crypto';

/** Returns numbers from 0 to below 1. The same seed gives the same numbers. */
export type Random = () => number;

/**
 * Mulberry32 by Tommy Ettinger. Its 32 bits of state are enough to shuffle a load.
 */
export function mulberry32(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns and prints the seed of this run: `FAULT_SEED` repeats an earlier run. */
export function seededRandom(title: string): Random {
  const seed = Number(process.env.FAULT_SEED ?? randomInt(2 ** 31));
  process.stderr.write(`${title}: FAULT_SEED=${seed}\n`);
  return mulberry32(seed);
}
