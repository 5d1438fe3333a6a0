import type { Contender } from './contender.ts';

/** How many codes of a race had which outcome. The first three add up to all codes. */
export interface RaceResult {
  once: number;
  moreThanOnce: number;
  never: number;
  /** Codes with at least one grant that works after the race. */
  usable: number;
}

/** Redeems one code after the other, each by several concurrent calls of its application. */
export async function race(
  contender: Contender,
  { codes, redeemers }: { codes: number; redeemers: number },
): Promise<RaceResult> {
  const result = { once: 0, moreThanOnce: 0, never: 0, usable: 0 };
  for (let round = 0; round < codes; round++) {
    const code = await contender.issue();
    const responses = await Promise.all(
      Array.from({ length: redeemers }, () => contender.redeem(code, 'application')),
    );
    const grants = responses.filter((grant) => grant !== null);
    if (grants.length === 0) result.never++;
    else if (grants.length === 1) result.once++;
    else result.moreThanOnce++;
    const accepted = await Promise.all(grants.map((grant) => contender.accepts(grant)));
    if (accepted.includes(true)) result.usable++;
  }
  return result;
}
