import type { Contender, Redeemer } from './contender.ts';

/** A misuse of a code. */
export interface Abuse {
  /** Who does what, and when. */
  title: string;
  /** Tries it with a fresh code. Returns whether the application's code and grant still work. */
  isHarmless(contender: Contender): Promise<boolean>;
}

/** Someone tries the code before its application redeems it. */
const before = (title: string, by: Redeemer): Abuse => ({
  title,
  async isHarmless(contender) {
    const code = await contender.issue();
    if ((await contender.redeem(code, by)) !== null) return false;
    return (await contender.redeem(code, 'application')) !== null;
  },
});

/** Someone sends the code again after its application has redeemed it. */
const after = (title: string, by: Redeemer): Abuse => ({
  title,
  async isHarmless(contender) {
    const code = await contender.issue();
    const grant = await contender.redeem(code, 'application');
    if (grant === null || !(await contender.accepts(grant))) {
      throw new Error('The application could not use its own code.');
    }
    if ((await contender.redeem(code, by)) !== null) return false;
    return contender.accepts(grant);
  },
});

export const abuses: readonly Abuse[] = [
  before('a wrong secret first', 'wrong secret'),
  before('another application first', 'other application'),
  after('replay without a secret', 'nobody'),
  after('replay with a wrong secret', 'wrong secret'),
  after('replay by another application', 'other application'),
  after('replay by the application itself', 'application'),
];

/** Returns for how many of the fresh codes the code and the grant still work after an abuse. */
export async function countUnharmed(
  contender: Contender,
  abuse: Abuse,
  { codes }: { codes: number },
): Promise<number> {
  let count = 0;
  for (let round = 0; round < codes; round++) if (await abuse.isHarmless(contender)) count++;
  return count;
}
