import type { Contender } from './contender.ts';

/** What became of the codes of a race. The first three add up to all of them. */
export interface RaceResult {
  once: number;
  moreThanOnce: number;
  noWinner: number;
  /** Codes of which at least one redeemer was given a grant that works when all are answered. */
  usable: number;
}

/** One code after the other, each asked for by several calls of its application at once. */
export async function race(
  contender: Contender,
  { codes, redeemers }: { codes: number; redeemers: number },
): Promise<RaceResult> {
  const result = { once: 0, moreThanOnce: 0, noWinner: 0, usable: 0 };
  for (let round = 0; round < codes; round++) {
    const code = await contender.issue();
    const answers = await Promise.all(
      Array.from({ length: redeemers }, () => contender.redeem(code, 'application')),
    );
    const grants = answers.filter((grant) => grant !== null);
    if (grants.length === 0) result.noWinner++;
    else if (grants.length === 1) result.once++;
    else result.moreThanOnce++;
    const admitted = await Promise.all(grants.map((grant) => contender.admits(grant)));
    if (admitted.includes(true)) result.usable++;
  }
  return result;
}
