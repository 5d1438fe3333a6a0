import { z } from 'zod';
import { endConnection } from '../connections/end-connection.ts';
import { findConnectedApplication } from '../connections/find-connected-application.ts';
import { type Connection, listConnections } from '../connections/list-connections.ts';
import type { Initiator } from '../initiator.ts';
import type { AuthorizationRequest } from '../linking/authorization-request.ts';
import { beginLink } from '../linking/begin-link.ts';
import { approve, deny } from '../linking/decide.ts';
import { readScope } from '../linking/describe-scopes.ts';
import { type LinkAccess, refuseDecided, refuseExpired } from '../linking/link-access.ts';
import {
  type OpenedPage,
  openPage,
  type PageAddress,
  type PageSession,
} from '../linking/page-session.ts';
import { switchAccount } from '../linking/switch-account.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord, ScopeRecord } from '../store/records.ts';
import type { Action } from './action.ts';
import type { AnyCaller, Visitor } from './handler.ts';

/** Where the browser goes next. */
export interface Redirect {
  redirect_to: string;
}

/** What a consent page shows. */
export interface ConsentView extends PageSession {
  access: LinkAccess<{ page_id: string }>;
  scopes: ScopeRecord[];
}

/** What a page of connections shows. */
export interface ConnectionsView extends PageSession {
  connections: Connection[];
}

/** What is asked before a connection ends; its application is null if there is no such connection. */
export interface DisconnectView extends PageSession {
  application: ApplicationRecord | null;
}

/** A handler gets its own kind of input and caller: whoever makes the call has made both. */
function action<Input extends object, By extends AnyCaller, Output extends object>(
  name: Action['name'],
  method: 'GET' | 'POST',
  handle: (service: Service, input: Input, caller: By, initiator: Initiator) => Promise<Output>,
): Action<Output> {
  const input = z.looseObject({});
  return { name, method, caller: 'user', input, handle: handle as Action<Output>['handle'] };
}

/**
 * What people do in a browser. It goes through the same steps as an operation, so that log, audit,
 * limits and traces have it too. `method` is as that of an operation: a GET changes nothing.
 */
export const browserActions = {
  /** `GET /oauth/authorize`. Takes what `readAuthorization` returns. */
  begin: action(
    'links.begin',
    'POST',
    async (service, request: AuthorizationRequest, _visitor: Visitor, initiator) => {
      const { link, redirect_to } = await beginLink(service, request, initiator);
      return { redirect_to, link_id: link.id, application_id: link.application_id };
    },
  ),

  /** A page is opened with its ticket. */
  openPage: action(
    'pages.open',
    'POST',
    async (service, asked: PageOpening, _visitor: Visitor, initiator): Promise<OpenedPage> => {
      const { address, ticket, session } = asked;
      return openPage(service, address, ticket, session, initiator);
    },
  ),

  /** The consent page is shown, unless its link request is decided or expired. */
  showConsent: action(
    'pages.open',
    'GET',
    async (service, _input, session: PageSession, initiator): Promise<ConsentView> => {
      const access = accessOf(session);
      refuseDecided(access.link);
      refuseExpired(service, access.link, initiator);
      return { ...session, access, scopes: await readScope(service.store, access.link.scope) };
    },
  ),

  allow: action(
    'admin.links.approve',
    'POST',
    async (service, _input, caller: PageSession, initiator) => {
      const { account_id } = caller.page;
      const { link, redirect_to } = await approve(
        service,
        accessOf(caller),
        { account_id },
        initiator,
      );
      return { redirect_to, grant_id: link.decision?.grant_id ?? null };
    },
  ),

  deny: action(
    'admin.links.deny',
    'POST',
    async (service, _input, session: PageSession, initiator): Promise<Redirect> => {
      const { redirect_to } = await deny(service, accessOf(session), initiator);
      return { redirect_to };
    },
  ),

  switchAccount: action(
    'links.switch',
    'POST',
    async (service, _input, session: PageSession, initiator): Promise<Redirect> =>
      switchAccount(service, accessOf(session), initiator),
  ),

  /** The connected applications of the page's account are shown. */
  showConnections: action(
    'pages.open',
    'GET',
    async (service, _input, session: PageSession): Promise<ConnectionsView> => {
      const connections = await listConnections(service, session.page.account_id);
      return { ...session, connections };
    },
  ),

  /** The page that asks before an application is disconnected is shown. */
  showDisconnect: action(
    'pages.open',
    'GET',
    async (
      service,
      { application_id }: { application_id: string | null },
      session: PageSession,
    ): Promise<DisconnectView> => {
      const { account_id } = session.page;
      const application =
        application_id === null
          ? null
          : await findConnectedApplication(service, { account_id, application_id });
      return { ...session, application };
    },
  ),

  disconnect: action(
    'admin.connections.revoke',
    'POST',
    async (service, asked: { application_id: string }, { page }: PageSession, initiator) => {
      const { application_id } = asked;
      await endConnection(service, { account_id: page.account_id, application_id }, initiator);
      return { application_id };
    },
  ),
};

/** A ticket, the address that it came to, and the cookie of that address; null without one. */
export interface PageOpening {
  address: PageAddress;
  ticket: string;
  session: string | null;
}

function accessOf({ access }: PageSession): LinkAccess<{ page_id: string }> {
  if (access === null) throw new Error('This page is about no link request.');
  return access;
}
