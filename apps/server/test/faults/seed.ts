import { randomInt } from 'node:crypto';
import { mulberry32 } from '../mulberry32.ts';

/** A source of numbers from 0 to below 1, the same for the same seed. */
export type Random = () => number;

/** The seed of this run: `FAULT_SEED`, to repeat one, else a new one. It is printed. */
export function seededRandom(title: string): Random {
  const seed = Number(process.env.FAULT_SEED ?? randomInt(2 ** 31));
  process.stderr.write(`${title}: FAULT_SEED=${seed}\n`);
  return mulberry32(seed);
}
