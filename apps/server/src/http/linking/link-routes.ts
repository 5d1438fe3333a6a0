import { describeRedirect } from '../../linking/redirect.ts';
import type { ActionChoice } from '../../operations/action.ts';
import { browserActions, type Redirect } from '../../operations/browser-actions.ts';
import type { Callers } from '../../operations/caller.ts';
import type { PathParameters, Route } from '../router.ts';
import { formTokenOf } from './form-token.ts';
import { openWithTicket, ticketIn } from './open-page.ts';
import { act, type PageTools, pageRoute, show } from './page-visit.ts';
import { type Answer, actionOf, readAnswer } from './read-answer.ts';
import { sendRedirect } from './send-redirect.ts';
import { consentPage } from './views/consent-page.ts';

const decisions = {
  allow: browserActions.allow,
  deny: browserActions.deny,
  switch: browserActions.switchAccount,
};

const decision: ActionChoice<Redirect, Answer, Callers['user']> = {
  name: 'pages.open',
  caller: 'user',
  choose: (answer) => actionOf(answer, decisions),
};

export function linkRoutes(tools: PageTools): Route[] {
  const path = '/link/{link_id}';
  const addressOf = ({ link_id = '' }: PathParameters) =>
    ({ kind: 'consent', link_id: link_id.toLowerCase() }) as const;

  return [
    pageRoute(tools, {
      method: 'GET',
      path,
      actions: [browserActions.openPage, browserActions.showConsent],
      addressOf,
      async handle(visit, parameters, query) {
        const { link_id } = addressOf(parameters);
        const ticket = ticketIn(query);
        if (ticket !== null) {
          return openWithTicket(tools, visit, ticket);
        }
        const { context } = visit;
        const { access, account, scopes, page } = await show(
          tools,
          visit,
          browserActions.showConsent,
        );
        const { link, application } = access;
        const { locale } = page;
        const { ui_locales } = link;
        const frame = tools.sender.frameFor(context, { locale, ui_locales });
        const question = {
          link_id,
          application,
          account,
          scopes,
          ...describeRedirect(link.redirect_uri),
          formToken: formTokenOf(visit.session ?? ''),
        };
        tools.sender.send(context, consentPage(frame, question));
      },
    }),
    pageRoute(tools, {
      method: 'POST',
      path,
      actions: Object.values(decisions),
      addressOf,
      async handle(visit) {
        const { context } = visit;
        const { redirect_to } = await act(tools, visit, decision, {
          readInput: () => readAnswer(context, visit.session ?? '', tools.origin),
        });
        sendRedirect(context, redirect_to);
      },
    }),
  ];
}
