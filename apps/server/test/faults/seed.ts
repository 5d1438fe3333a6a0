import { randomInt } from 'node:crypto';

/** A source of numbers from 0 to below 1, the same for the same seed (mulberry32). */
export type Random = () => number;

/** The seed of this run: `FAULT_SEED`, to repeat one, else a new one. It is printed. */
export function seededRandom(title: string): Random {
  const seed = Number(process.env.FAULT_SEED ?? randomInt(2 ** 31));
  process.stderr.write(`${title}: FAULT_SEED=${seed}\n`);
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
