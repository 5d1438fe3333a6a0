import { DomainError } from '@latchkey/domain/domain-error';
import { COOKIE_AFTER_DECISION, LINKS_KEPT, STARTS_APPLICATION } from '@latchkey/domain/lifetimes';
import { describeRedirect } from '@latchkey/rules/linking/describe-redirect';
import { findReturnToStranger, type ReturnToStranger } from '@latchkey/rules/linking/link-access';
import { linkingOf } from '@latchkey/rules/linking/linking';
import {
  type Location,
  locationToStart,
  ownLocation,
  startsApplication,
} from '@latchkey/rules/linking/redirect';
import type { ActionChoice } from '../../operations/action.ts';
import { browserActions, type LinkEnd, type Redirect } from '../../operations/browser-actions.ts';
import { type CallContext, call } from '../../operations/call.ts';
import type { Callers } from '../../operations/caller.ts';
import type { Headers, RequestContext, RequestedCall } from '../request-context.ts';
import { sendRedirect } from '../response.ts';
import type { PathParameters, Route } from '../router.ts';
import { openWithTicket, ticketIn } from './open-page.ts';
import { act, authenticateUser, type PageTools, pageRoute } from './page-visit.ts';
import { type Answer, actionOf, formTokenOf, readAnswer } from './read-answer.ts';
import { consentPage } from './views/consent-page.ts';
import { endPage } from './views/end-page.ts';

const decisions = {
  allow: browserActions.allow,
  deny: browserActions.deny,
  switch: browserActions.switchAccount,
};

const decision: ActionChoice<Redirect, Answer, Callers['user']> = {
  name: browserActions.showConsent.name,
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
        const { access, account, asked, page, end } = await act(
          tools,
          visit,
          browserActions.showConsent,
          { readInput: async () => ({}) },
        );
        if (end !== null) return sendEnd(tools, context, end);
        const { link } = access;
        const { vouchers } = linkingOf(tools.callContext.service);
        const { locale } = page;
        const { ui_locales } = link;
        const frame = tools.sender.frameFor(context, { locale, ui_locales });
        const question = {
          link_id,
          application: vouchers.show(access.application),
          account,
          resource: access.resource,
          ...asked,
          choice: page.choice,
          ...describeRedirect(vouchers.ofRedirectUri(link).redirect_uri),
          formToken: formTokenOf(visit.session ?? ''),
        };
        tools.sender.send(context, consentPage(frame, question));
      },
    }),
    pageRoute(tools, {
      method: 'GET',
      path: `${path}/done`,
      actions: [browserActions.showEnd],
      addressOf,
      async handle(visit, parameters, query) {
        const { context } = visit;
        const { callContext } = tools;
        const { link_id } = addressOf(parameters);
        let returns: ReturnToStranger | null = null;
        const { end } = await call(callContext, browserActions.showEnd, {
          async authenticate() {
            const { request_id } = context.redacted;
            returns = await findReturnToStranger(callContext.service, link_id, request_id);
            try {
              return await authenticateUser(callContext, visit);
            } catch (error) {
              const isNobody =
                error instanceof DomainError &&
                (error.code === 'page_expired' || error.code === 'cookies_refused');
              if (returns === null || !isNobody) throw error;
              return { kind: 'visitor', address_key: null };
            }
          },
          readInput: async () => ({ returns }),
          request: context,
          summary: context.calls[0] as RequestedCall,
        });
        if (end === null) {
          const linking = linkingOf(callContext.service);
          const address = `${linking.publicUrl}/link/${link_id}`;
          return sendRedirect(context, ownLocation(linking, address));
        }
        const mayStart = new URLSearchParams(query).has('start');
        const start = mayStart ? startOf(callContext, end) : null;
        sendEnd(tools, context, end, start === null ? {} : { Refresh: `0;url=${start}` });
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

function sendEnd(
  { sender, callContext }: PageTools,
  context: RequestContext,
  end: LinkEnd,
  headers: Headers = {},
): void {
  const { vouchers } = linkingOf(callContext.service);
  const { locale = null } = end.page ?? {};
  const frame = sender.frameFor(context, { locale, ui_locales: end.link.ui_locales });
  const application = end.application && vouchers.show(end.application);
  sender.send(context, endPage(frame, { ...end, application }), 200, headers);
}

function startOf({ service }: CallContext, { link, answer }: LinkEnd): Location | null {
  if (answer === null || link.decision === null) return null;
  if (!startsApplication(linkingOf(service), link)) return null;
  if (service.clock() >= link.decision.at + STARTS_APPLICATION) return null;
  return locationToStart(answer, link);
}
