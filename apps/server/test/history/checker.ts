import { byGrant } from './grant-calls.ts';
import { type Call, describeCall, type History } from './history.ts';
import { rules } from './rules.ts';

/** What the service must not have done. */
export interface Violation {
  /** The name of the rule. */
  rule: string;
  says: string;
  grant: string;
  /** The calls that prove it, by their beginning. */
  calls: readonly Call[];
}

/**
 * Looks for what can't be, whatever the service did between the calls. Where answers are missing,
 * both is possible: that it was done, and that it was not.
 */
export function check(history: History): Violation[] {
  return [...byGrant(history)].flatMap(([grant, calls]) =>
    rules.flatMap(({ name, says, broken }) => {
      const proof = broken(calls);
      if (proof === undefined) return [];
      return [{ rule: name, says, grant, calls: proof.toSorted((a, b) => a.start - b.start) }];
    }),
  );
}

/** For a person: the rule, and the calls that prove it, in order. */
export function describeViolation({ rule, says, grant, calls }: Violation): string {
  return [
    `${grant} breaks ${rule}: ${says}`,
    ...calls.map((call) => `  ${describeCall(call)}`),
  ].join('\n');
}
