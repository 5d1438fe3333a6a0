import { DomainError } from '../../domain-error.ts';
import { formMembers } from '../form.ts';
import type { RequestContext } from '../request-context.ts';
import { isFormToken } from './form-token.ts';
import { readOwnForm } from './read-own-form.ts';

export interface Answer {
  decision?: string;
}

/** Refuses a form that this page did not send. */
export async function readAnswer(
  context: RequestContext,
  session: string,
  origin: string,
): Promise<Answer> {
  const form = await readOwnForm(context, origin);
  const [token, ...others] = form.get('form_token') ?? [];
  if (token === undefined) throw DomainError.because('form_token_missing');
  if (others.length > 0 || !isFormToken(token, session)) {
    throw DomainError.because('form_token_wrong');
  }
  return formMembers(form, ['decision']);
}

export function actionOf<Action extends object>(
  { decision = '' }: Answer,
  actions: Readonly<Record<string, Action>>,
): Action {
  const action = Object.hasOwn(actions, decision) ? actions[decision] : undefined;
  if (action !== undefined) return action;
  throw DomainError.invalid(['decision'], `Must be ${Object.keys(actions).join(' or ')}.`);
}
