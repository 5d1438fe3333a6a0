import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { scopeMarksOf } from '@latchkey/rules/audit/name-marks';
import { endConnection } from '@latchkey/rules/connections/end-connection';
import { listConnectionsWithGrants } from '@latchkey/rules/connections/list-connections';
import { createConnectionsPage } from '@latchkey/rules/linking/create-connections-page';
import { approve, deny } from '@latchkey/rules/linking/decide';
import { readScope } from '@latchkey/rules/linking/describe-scopes';
import { identify } from '@latchkey/rules/linking/identify';
import { accessByLink, type LinkAccess } from '@latchkey/rules/linking/link-access';
import { vouchersOf } from '@latchkey/rules/linking/linking';
import { putScope } from '@latchkey/rules/linking/put-scope';
import {
  createResource,
  deleteResource,
  updateResource,
} from '@latchkey/rules/resources/register-resource';
import type { Service } from '@latchkey/rules/service';
import type { LinkRequest } from '@latchkey/schema';
import type { Handlers } from '../handler.ts';
import {
  toCompleteList,
  toConnection,
  toLinkRequest,
  toPage,
  toResource,
  toScope,
} from '../linking-wire.ts';
import { toRevokedGrant } from '../wire.ts';

type LinkingName = Extract<
  keyof Handlers,
  `admin.${'scopes' | 'resources' | 'connections' | 'pages' | 'links'}.${string}`
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
  'admin.resources.create': async (service, input, _operator, _initiator, { publicUrl }) =>
    toResource(await createResource(service, input, publicUrl())),
  'admin.resources.list': async ({ store }) =>
    toCompleteList((await store.listResources()).map(toResource)),
  'admin.resources.update': async (service, input, _operator, _initiator, { ids }) => {
    const { resource_id, resource: _, ...changes } = input;
    const resource = await updateResource(service, resource_id, changes);
    if (changes.scopes !== undefined) ids.scopes = scopeMarksOf(changes.scopes);
    return toResource(resource);
  },
  'admin.resources.delete': async (service, { resource_id }) =>
    toResource(await deleteResource(service, resource_id)),
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
  'admin.links.read': async (service, { link }, _operator, initiator) => {
    const { access, scopes } = await readLink(service, link, initiator);
    return toLinkRequest(access, scopes, vouchersOf(service));
  },
  'admin.links.identify': async (service, { link, ...input }, _by, initiator) => {
    const { account_id, locale = null, own_page = false } = input;
    const asked = await readLink(service, link, initiator);
    const who = { account_id, locale, own_page };
    const identified = await identify(service, asked.access, who, initiator);
    return linkRedirect(service, asked, { ...asked.access, ...identified });
  },
  'admin.links.approve': async (service, { link, ...approval }, _operator, initiator) => {
    const asked = await readLink(service, link, initiator);
    return linkRedirect(service, asked, await approve(service, asked.access, approval, initiator));
  },
  'admin.links.deny': async (service, { link }, _operator, initiator) => {
    const asked = await readLink(service, link, initiator);
    return linkRedirect(service, asked, await deny(service, asked.access, initiator));
  },
};

/** All that a response needs, before the write: nothing can fail once that is made. */
async function readLink(service: Service, credential: string, initiator: Initiator) {
  const access = await accessByLink(service, credential, initiator);
  return { access, scopes: await readScope(service.store, access.link.scope) };
}

function linkRedirect<To extends string | null>(
  service: Service,
  { access: { resource }, scopes }: Awaited<ReturnType<typeof readLink>>,
  {
    link,
    application,
    redirect_to,
  }: Pick<LinkAccess, 'link' | 'application'> & { redirect_to: To },
): LinkRequest & { redirect_to: To } {
  const request = toLinkRequest({ link, application, resource }, scopes, vouchersOf(service));
  return { ...request, redirect_to };
}
