import { createHmac } from 'node:crypto';
import { sameHash } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Checked } from '../../operations/browser-actions.ts';
import { formMembers, readOwnForm } from '../form.ts';
import type { RequestContext } from '../request-context.ts';

export interface Answer extends Checked {
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
  const isOwn = sameHash(Buffer.from(token), Buffer.from(formTokenOf(session)));
  if (others.length > 0 || !isOwn) {
    throw DomainError.because('form_token_wrong');
  }
  const { optional_scope = [], choice = [] } = Object.fromEntries(form);
  return { ...formMembers(form, ['decision']), optional_scope, choice };
}

export function actionOf<Action extends object>(
  { decision = '' }: Answer,
  actions: Readonly<Record<string, Action>>,
): Action {
  const action = Object.hasOwn(actions, decision) ? actions[decision] : undefined;
  if (action !== undefined) return action;
  throw DomainError.invalid(['decision'], `Must be ${Object.keys(actions).join(' or ')}.`);
}

/** Proves that the page sent its form. A one-way function of the session, so nothing is stored. */
export function formTokenOf(session: string): string {
  return createHmac('sha256', session).update('form_token').digest('base64url');
}
