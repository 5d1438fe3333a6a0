import { DomainError } from '@latchkey/domain/domain-error';
import { linkingOf } from '@latchkey/rules/linking/linking';
import { ownLocation } from '@latchkey/rules/linking/redirect';
import { isUuid } from '@latchkey/schema';
import type { ActionChoice } from '../../operations/action.ts';
import { browserActions } from '../../operations/browser-actions.ts';
import type { Callers } from '../../operations/caller.ts';
import { cursorOf, placeIn } from '../../operations/connections.ts';
import { sendRedirect } from '../response.ts';
import type { Route } from '../router.ts';
import { openWithTicket, ticketIn } from './open-page.ts';
import { act, type PageTools, pageRoute } from './page-visit.ts';
import { type Answer, actionOf, formTokenOf, readAnswer } from './read-answer.ts';
import { connectionsPage } from './views/connections-page.ts';
import { disconnectPage } from './views/disconnect-page.ts';

interface Disconnection {
  application_id: string;
}

const { disconnect } = browserActions;

const decision: ActionChoice<Disconnection, Answer & Disconnection, Callers['user']> = {
  name: disconnect.name,
  caller: 'user',
  choose: (answer) => actionOf(answer, { disconnect }),
};

const addressOf = () => ({ kind: 'connections' }) as const;

export function connectionRoutes(tools: PageTools): Route[] {
  const { sender, callContext } = tools;
  const path = '/connections';
  const onePath = '/connections/{application_id}';
  const linking = linkingOf(callContext.service);
  const { show } = linking.vouchers;
  const listUrl = linking.publicUrl + path;

  return [
    pageRoute(tools, {
      method: 'GET',
      path,
      actions: [browserActions.openPage, browserActions.showConnections],
      addressOf,
      async handle(visit, _, query) {
        const ticket = ticketIn(query);
        if (ticket !== null) return openWithTicket(tools, visit, ticket);
        const asked = new URLSearchParams(query);
        const done = asked.get('done') ?? '';
        const { account, list, ended, page } = await act(
          tools,
          visit,
          browserActions.showConnections,
          {
            readInput: async () => ({
              done: isUuid(done) ? done.toLowerCase() : null,
              after: placeIn(asked.get('cursor')),
            }),
          },
        );
        const { return_url, locale } = page;
        const frame = sender.frameFor(visit.context, { locale });
        const now = callContext.service.clock();
        const shown = {
          ...{ account, connections: list.connections, return_url, now },
          ...{ next: cursorOf(list.next), ended: ended && show(ended) },
        };
        sender.send(visit.context, connectionsPage(frame, shown));
      },
    }),
    pageRoute(tools, {
      method: 'GET',
      path: onePath,
      actions: [browserActions.showDisconnect],
      addressOf,
      async handle(visit, { application_id = '' }) {
        const { application, page } = await act(tools, visit, browserActions.showDisconnect, {
          readInput: async () => ({
            application_id: isUuid(application_id) ? application_id.toLowerCase() : null,
          }),
        });
        if (application === null) return sendRedirect(visit.context, ownLocation(linking, listUrl));
        const frame = sender.frameFor(visit.context, { locale: page.locale });
        const formToken = formTokenOf(visit.session ?? '');
        sender.send(
          visit.context,
          disconnectPage(frame, { application: show(application), formToken }),
        );
      },
    }),
    pageRoute(tools, {
      method: 'POST',
      path: onePath,
      actions: [disconnect],
      addressOf,
      async handle(visit, parameters) {
        const { application_id } = await act(tools, visit, decision, {
          async readInput() {
            const answer = await readAnswer(visit.context, visit.session ?? '', tools.origin);
            return { ...answer, application_id: applicationIdIn(parameters) };
          },
        });
        sendRedirect(visit.context, ownLocation(linking, `${listUrl}?done=${application_id}`));
      },
    }),
  ];
}

function applicationIdIn({ application_id = '' }: { application_id?: string }): string {
  if (isUuid(application_id)) return application_id.toLowerCase();
  throw DomainError.invalid(['application_id'], 'Must be a UUID.');
}
