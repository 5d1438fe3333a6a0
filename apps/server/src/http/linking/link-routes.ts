import type { Milliseconds } from '../../clock.ts';
import { describeRedirect } from '../../linking/redirect.ts';
import type { ActionChoice } from '../../operations/action.ts';
import { browserActions, type Redirect } from '../../operations/browser-actions.ts';
import type { Callers } from '../../operations/caller.ts';
import { LINKS_KEPT } from '../../store/store.ts';
import type { PathParameters, Route } from '../router.ts';
import { formTokenOf } from './form-token.ts';
import { openWithTicket, ticketIn } from './open-page.ts';
import { act, type PageTools, pageRoute, show } from './page-visit.ts';
import { type Answer, actionOf, readAnswer } from './read-answer.ts';
import { sendRedirect } from './send-redirect.ts';
import { consentPage } from './views/consent-page.ts';

/** For the other clicks of a double click, and for the button back. */
export const COOKIE_AFTER_DECISION: Milliseconds = 300_000;

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
          resource: access.resource,
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
        const { context, address } = visit;
        const session = visit.session ?? '';
        const { redirect_to, page_expires_at } = await act(tools, visit, decision, {
          readInput: () => readAnswer(context, session, tools.origin),
        });
        if (page_expires_at === undefined) return sendRedirect(context, redirect_to);
        const left = page_expires_at + LINKS_KEPT - tools.callContext.service.clock();
        const seconds = Math.ceil(Math.min(left, COOKIE_AFTER_DECISION) / 1000);
        sendRedirect(context, redirect_to, {
          'Set-Cookie': tools.cookies.set(address, session, seconds),
        });
      },
    }),
  ];
}
