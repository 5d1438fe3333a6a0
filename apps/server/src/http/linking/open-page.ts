import { LINKS_KEPT } from '@latchkey/domain/lifetimes';
import { addressKey } from '@latchkey/rules/limits/limit';
import { linkingOf } from '@latchkey/rules/linking/linking';
import { ownLocation } from '@latchkey/rules/linking/redirect';
import { credentialParts } from '@latchkey/schema';
import { browserActions } from '../../operations/browser-actions.ts';
import { call } from '../../operations/call.ts';
import type { RequestedCall } from '../request-context.ts';
import { sendRedirect } from '../response.ts';
import type { PageTools, PageVisit } from './page-visit.ts';

/** If the parameter is repeated, the result joins its values, which is not a valid ticket. */
export function ticketIn(query: string): string | null {
  const tickets = new URLSearchParams(query).getAll('ticket').filter((ticket) => ticket !== '');
  return tickets.length === 0 ? null : tickets.join(' ');
}

/** Redirects to the address without the ticket: the history of the browser would keep it. */
export async function openWithTicket(
  tools: PageTools,
  visit: PageVisit,
  ticket: string,
): Promise<void> {
  const { callContext, cookies } = tools;
  const { context, address, path } = visit;
  const linking = linkingOf(callContext.service);
  // So that a browser which keeps no cookie can be told so.
  const locationOf = (page_id: string) =>
    ownLocation(linking, `${linking.publicUrl}${path}?opened=${page_id}`);
  // Link previews send HEAD. They must not open anything.
  const parts = context.request.method === 'HEAD' ? credentialParts('pageTicket', ticket) : null;
  if (parts !== null) return sendRedirect(context, locationOf(parts.id));

  const { page, session } = await call(callContext, browserActions.openPage, {
    authenticate: async () => ({ kind: 'visitor', address_key: addressKey(context.address) }),
    readInput: async () => ({ address, ticket, session: visit.session }),
    request: context,
    summary: context.calls[0] as RequestedCall,
  });
  const location = locationOf(page.id);
  if (session === null) return sendRedirect(context, location);
  // Once its link is over, a consent page says so, and leads back to the application.
  const end = page.expires_at + (page.kind === 'consent' ? LINKS_KEPT : 0);
  const seconds = Math.ceil((end - callContext.service.clock()) / 1000);
  sendRedirect(context, location, {
    'Set-Cookie': [
      cookies.set(address, session, seconds),
      ...cookies.makeRoom(context.request, address),
    ],
  });
}
