import { DomainError } from '@latchkey/domain/domain-error';
import type { Choice } from '@latchkey/schema';
import type { ChoiceQuestion } from '@latchkey/store/records';

type Option = ChoiceQuestion['options'][number];

/** The label is the id if it is left out, or if nothing is left of it. */
export const choiceOf = ({ id, label }: Option): Choice => ({ id, label: label || id });

/**
 * What the user has chosen on the page.
 *
 * @param given - the ids that the form has
 */
export function chosenOf(asked: ChoiceQuestion | null, given: readonly string[]): Choice | null {
  const [id, ...others] = given;
  if (asked === null && id === undefined) return null;
  const option = asked?.options.find((each) => each.id === id);
  if (option === undefined || others.length > 0) {
    throw DomainError.invalid(['choice'], 'Must be one of those that the page offers.');
  }
  return choiceOf(option);
}
