import type { LinkRedirect, LinkRequest } from '@latchkey/schema';
import { endConnection } from '../../connections/end-connection.ts';
import { listConnectionsWithGrants } from '../../connections/list-connections.ts';
import { DomainError } from '../../domain-error.ts';
import { createConnectionsPage } from '../../linking/create-connections-page.ts';
import { approve, type Decided, deny } from '../../linking/decide.ts';
import { readScope } from '../../linking/describe-scopes.ts';
import { identify } from '../../linking/identify.ts';
import { accessByLink, type LinkAccess } from '../../linking/link-access.ts';
import { putScope } from '../../linking/put-scope.ts';
import type { Service } from '../../service.ts';
import type { Handlers } from '../handler.ts';
import { toCompleteList, toConnection, toLinkRequest, toPage, toScope } from '../linking-wire.ts';
import { toRevokedGrant } from '../wire.ts';

type LinkingName = Extract<
  keyof Handlers,
  `admin.${'scopes' | 'connections' | 'pages' | 'links'}.${string}`
>;

export const linkingHandlers: Handlers<LinkingName> = {
  'admin.scopes.put': async (service, scope) => {
    await putScope(service, scope);
    return toScope(scope);
  },
  'admin.scopes.list': async ({ store }) => toCompleteList((await store.listScopes()).map(toScope)),
  'admin.scopes.delete': async ({ store }, { scope }) => {
    const deleted = await store.deleteScope(scope);
    if (deleted === null) throw new DomainError('scope_not_found');
    return toScope(deleted);
  },
  'admin.connections.list': async (service, { account_id }) =>
    toCompleteList((await listConnectionsWithGrants(service, account_id)).map(toConnection)),
  'admin.connections.revoke': async (service, connection, _operator, initiator) =>
    toCompleteList((await endConnection(service, connection, initiator)).map(toRevokedGrant)),
  'admin.pages.create': async (service, request, _operator, initiator) => {
    const { account_id, return_url = null, locale = null } = request;
    return toPage(
      await createConnectionsPage(service, { account_id, return_url, locale }, initiator),
    );
  },
  'admin.pages.end': async ({ store }, { account_id }) => {
    await store.endPages(account_id);
    return { object: 'pages_ended', account_id };
  },
  'admin.links.read': async (service, { link }, _operator, initiator) =>
    linkRequest(service, await accessByLink(service, link, initiator)),
  'admin.links.identify': async (service, { link, ...input }, _by, initiator) => {
    const { account_id, locale = null, own_page = false } = input;
    const access = await accessByLink(service, link, initiator);
    const who = { account_id, locale, own_page };
    const { link: identified, redirect_to } = await identify(service, access, who, initiator);
    const { application } = access;
    return { ...(await linkRequest(service, { link: identified, application })), redirect_to };
  },
  'admin.links.approve': async (service, { link, ...approval }, _operator, initiator) => {
    const access = await accessByLink(service, link, initiator);
    return linkRedirect(service, access, await approve(service, access, approval, initiator));
  },
  'admin.links.deny': async (service, { link }, _operator, initiator) => {
    const access = await accessByLink(service, link, initiator);
    return linkRedirect(service, access, await deny(service, access, initiator));
  },
};

async function linkRequest(
  { store }: Service,
  access: Pick<LinkAccess, 'link' | 'application'>,
): Promise<LinkRequest> {
  return toLinkRequest(access, await readScope(store, access.link.scope));
}

async function linkRedirect(
  service: Service,
  { application }: LinkAccess,
  { link, redirect_to }: Decided,
): Promise<LinkRedirect> {
  return { ...(await linkRequest(service, { link, application })), redirect_to };
}
