import type { Contender, Redeemer } from './contender.ts';

/** A misuse of a code. */
export interface Abuse {
  /** The caller, its action, and the time. */
  title: string;
  /** Whether it comes before the application's own redemption, or after it. */
  when: 'before' | 'after';
  /** Tries it with a fresh code. Returns whether the application's code and grant still work. */
  isHarmless(contender: Contender): Promise<boolean>;
}

/** Someone tries the code before its application redeems it. */
const before = (title: string, by: Redeemer): Abuse => ({
  title,
  when: 'before',
  async isHarmless(contender) {
    const code = await contender.issue();
    if ((await contender.redeem(code, by)) !== null) return false;
    return (await contender.redeem(code, 'application')) !== null;
  },
});

/** Someone sends the code again after its application has redeemed it. */
const after = (title: string, by: Redeemer): Abuse => ({
  title,
  when: 'after',
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

/** The downgrade of RFC 9700, section 4.8.2: harmless if the code is refused, or never issued. */
const withoutChallenge: Abuse = {
  title: 'a verifier, but the challenge was removed',
  when: 'before',
  async isHarmless(contender) {
    const code = await contender.issueWithoutChallenge();
    return code === null || (await contender.redeem(code, 'application')) === null;
  },
};

export const abuses: readonly Abuse[] = [
  before('a wrong secret first', 'wrong secret'),
  before('another application first', 'other application'),
  before('a wrong verifier first', 'wrong verifier'),
  before('another redirect URI first', 'other redirect URI'),
  withoutChallenge,
  after('replay without a secret', 'nobody'),
  after('replay with a wrong secret', 'wrong secret'),
  after('replay by another application', 'other application'),
  after('replay by the application itself', 'application'),
];

/** Counts the fresh codes whose code and grant still work after an abuse. */
export async function countUnharmed(
  contender: Contender,
  abuse: Abuse,
  { codes }: { codes: number },
): Promise<number> {
  let count = 0;
  for (let round = 0; round < codes; round++) if (await abuse.isHarmless(contender)) count++;
  return count;
}
