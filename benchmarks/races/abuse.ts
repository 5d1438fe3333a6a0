import type { Contender, Redeemer } from './contender.ts';

/** Something done with a code by somebody who should not have, and what its application finds. */
export interface Abuse {
  /** Who does it, and when, in a few words. */
  title: string;
  /** Does it with a fresh code; whether the application is served as if nothing had happened. */
  isHarmless(contender: Contender): Promise<boolean>;
}

/** Somebody is first with the code; then its application exchanges it. */
const before = (title: string, by: Redeemer): Abuse => ({
  title,
  async isHarmless(contender) {
    const code = await contender.issue();
    if ((await contender.redeem(code, by)) !== null) return false;
    return (await contender.redeem(code, 'application')) !== null;
  },
});

/** Somebody sends the code again after its application has exchanged it, and uses the grant. */
const after = (title: string, by: Redeemer): Abuse => ({
  title,
  async isHarmless(contender) {
    const code = await contender.issue();
    const grant = await contender.redeem(code, 'application');
    if (grant === null || !(await contender.admits(grant))) {
      throw new Error('The application could not use its own code.');
    }
    if ((await contender.redeem(code, by)) !== null) return false;
    return contender.admits(grant);
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

/** How many of some fresh codes came through an abuse unharmed. */
export async function unharmed(
  contender: Contender,
  abuse: Abuse,
  { codes }: { codes: number },
): Promise<number> {
  let count = 0;
  for (let round = 0; round < codes; round++) if (await abuse.isHarmless(contender)) count++;
  return count;
}
