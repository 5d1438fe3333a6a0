import { mulberry32 } from '@latchkey/test-kit/seeded-random';

/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** From 0 up to, and without, `below`: a whole number. */
  integer(below: number): number;
  /** True in that share of the cases. */
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

/**
 * @param seed - any whole number
 * @param stream - another one gives other numbers for the same seed: one for each who draws
 */
export function createRandom(seed: number, stream: number): Random {
  const fraction = mulberry32(Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b));
  const integer = (below: number) => Math.floor(fraction() * below);
  return {
    integer,
    chance: (share) => fraction() < share,
    pick<T>(choices: readonly T[]): T {
      if (choices.length === 0) throw new RangeError('There is nothing to pick from.');
      return choices[integer(choices.length)] as T;
    },
    weighted(weights) {
      const entries = Object.entries<number>(weights) as [keyof typeof weights, number][];
      let left = fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      throw new RangeError('No weight is greater than 0.');
    },
  };
}
