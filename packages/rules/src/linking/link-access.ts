import type { Milliseconds } from '@latchkey/domain/clock';
import { hashCredential, sameHash } from '@latchkey/domain/credentials/credentials';
import { accountSubject, DomainError, type Subject } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { LINK_LIFETIME, LINKS_KEPT } from '@latchkey/domain/lifetimes';
import type { Reason } from '@latchkey/domain/reasons';
import { credentialParts, isUuid } from '@latchkey/schema';
import { sinceOf } from '@latchkey/store/generations';
import type { CredentialHash, LinkRecord } from '@latchkey/store/records';
import type { LinkHolder } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { type ShownResource, shownResource } from '../resources/find-resource.ts';
import { hashIds, scopeWithOptional } from './asked-scope.ts';
import { linkingOf, readPins } from './linking.ts';
import { type LinkingApplication, withDocument } from './linking-application.ts';
import { matchesRedirectUri } from './match-redirect-uri.ts';
import {
  locationAfter,
  RefusedToApplication,
  returnOf,
  type StrangersAddress,
} from './redirect.ts';

export interface LinkAccess<Holder extends LinkHolder = LinkHolder> {
  link: LinkRecord;
  application: LinkingApplication;
  resource: ShownResource | null;
  holder: Holder;
  decided_by: string;
  key: Uint8Array;
  lost: { unknown: Reason; superseded: Reason };
}

export type LinkFaults = Record<
  | 'unknown'
  | 'deletedApplication'
  | 'disabledApplication'
  | 'redirectUriRemoved'
  | 'scopeRemoved'
  | 'resourceRemoved',
  Reason
>;

const hostFaults: LinkFaults = {
  unknown: 'link_unknown',
  deletedApplication: 'link_of_deleted_application',
  disabledApplication: 'link_of_disabled_application',
  redirectUriRemoved: 'link_redirect_uri_removed',
  scopeRemoved: 'link_scope_removed',
  resourceRemoved: 'link_resource_removed',
};

export function subjectOf({ id, application_id, account_id }: LinkRecord): Subject {
  return {
    link_id: id,
    ...(application_id !== null && { application_id }),
    ...accountSubject(account_id),
  };
}

export async function findLinkRequest(
  { store, clock, linking }: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  link_id: string,
  faults: LinkFaults,
): Promise<Pick<LinkAccess, 'link' | 'application' | 'resource'>> {
  const link = await store.findLink(link_id);
  if (link === null || isGone(link, clock())) {
    throw DomainError.because(faults.unknown, { link_id });
  }
  const isOpen = link.decision === null;
  const tokens = scopeWithOptional(link).split(' ');
  const [application, description_ids, resources] = await Promise.all([
    findApplication({ store, linking }, link),
    isOpen ? store.findDescriptionIds(tokens) : ([] as (string | null)[]),
    link.resource === null ? [] : store.listResources(),
    link.document !== null && readPins({ store, linking }),
  ]);
  const refuse = (reason: Reason) => DomainError.because(reason, subjectOf(link));
  if (application === null) throw refuse(faults.deletedApplication);
  if (application.disabled) throw refuse(faults.disabledApplication);
  const { redirect_uris, scopes, generations } = application;
  const registered = redirect_uris.filter((uri) => matchesRedirectUri(uri, link.redirect_uri));
  // What a document changes changes nothing for a link request that was begun.
  const isRegistered = link.document === null;
  if (isRegistered && registered.length === 0) throw refuse(faults.redirectUriRemoved);
  const { resource: linked } = link;
  const found = resources.find(({ id }) => id === linked?.id);
  const resource = linked && shownResource(found === undefined ? [] : [found], linked.resource);
  if (!isOpen) return { link, application, resource };

  // What was taken away and put back is there since a later generation.
  const { generation } = link;
  if (generations.disabled > generation) throw refuse(faults.disabledApplication);
  const areNew = registered.every((uri) => sinceOf(generations.redirect_uris, uri) > generation);
  if (isRegistered && areNew) {
    throw refuse(faults.redirectUriRemoved);
  }
  const ids = description_ids.filter((id) => id !== null);
  const areDescribed =
    ids.length === tokens.length && sameHash(hashIds(ids), link.description_hash);
  const isTakenAway = tokens.some((token) => {
    const isAllowed = scopes === null || scopes.includes(token);
    return !isAllowed || sinceOf(generations.scopes, token) > generation;
  });
  if (isTakenAway || !areDescribed) throw refuse(faults.scopeRemoved);
  if (linked !== null && found?.generation !== linked.generation)
    throw refuse(faults.resourceRemoved);
  return { link, application, resource };
}

/** The store may delete it later. */
const isGone = ({ expires_at }: LinkRecord, now: Milliseconds) => now >= expires_at + LINKS_KEPT;

export interface ReturnToStranger {
  link: LinkRecord;
  address: StrangersAddress;
}

/**
 * A link request that was denied or has expired, with the way back to a stranger. Null for every other.
 * Its address is all that it takes: the link may have been denied by the host, or in another browser.
 */
export async function findReturnToStranger(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  link_id: string,
  request_id: string,
): Promise<ReturnToStranger | null> {
  const now = service.clock();
  const link = isUuid(link_id) ? await service.store.findLink(link_id) : null;
  if (link === null || isGone(link, now)) return null;
  const isOver =
    link.decision === null ? now >= link.expires_at : link.decision.status === 'denied';
  if (!isOver) return null;
  if (link.document !== null) await readPins(service);
  const address = returnOf(linkingOf(service), link, request_id);
  return address.voucher === 'stranger' ? { link, address } : null;
}

/** Null if it was deleted since. */
async function findApplication(
  { store, linking }: Pick<Dependencies, 'store' | 'linking'>,
  link: LinkRecord,
): Promise<LinkingApplication | null> {
  const { application_id, document, decision, expires_at } = link;
  if (document === null)
    return application_id === null ? null : store.findApplication(application_id);
  const record = await store.findDocumented(document.uri);
  const hadRecord = application_id !== null || decision?.status === 'approved';
  const isOther = application_id !== null && record?.id !== application_id;
  if (isOther || (hadRecord && record === null)) return null;
  const { redirect_uri } = linkingOf({ linking }).vouchers.ofRedirectUri(link);
  return withDocument(record, document, [redirect_uri], expires_at - LINK_LIFETIME);
}

export async function accessByLink(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  credential: string,
  initiator: Initiator,
): Promise<LinkAccess<{ link_hash: CredentialHash }>> {
  const parts = credentialParts('link', credential);
  if (parts === null) throw DomainError.because('link_ill_formed');
  const { link, application, resource } = await findLinkRequest(service, parts.id, hostFaults);
  const link_hash = hashCredential(credential);
  if (!sameHash(link.link_hash, link_hash)) {
    throw DomainError.because('link_superseded', subjectOf(link));
  }
  refuseExpired(service, link, initiator);
  return {
    link,
    application,
    resource,
    holder: { link_hash },
    decided_by: link.id,
    key: parts.random,
    lost: { unknown: hostFaults.unknown, superseded: 'link_superseded' },
  };
}

/** Leads back to the application, so that the user is not stranded. */
export function refuseExpired(
  service: Pick<Dependencies, 'clock' | 'linking'>,
  link: LinkRecord,
  initiator: Initiator,
): void {
  if (link.decision !== null || service.clock() < link.expires_at) return;
  const linking = linkingOf(service);
  const { request_id } = initiator;
  const redirect_to = locationAfter(linking, link, request_id);
  throw new RefusedToApplication(
    new DomainError('link_expired', { redirect_to }),
    returnOf(linking, link, request_id),
    subjectOf(link),
  );
}

export function refuseDecided(link: LinkRecord): void {
  if (link.decision === null) return;
  const { status, grant_id } = link.decision;
  const subject = { ...subjectOf(link), ...(grant_id !== null && { grant_id }) };
  throw new DomainError('link_decided', { status }, undefined, { reason: null, subject });
}

/** After a write that matched nothing: the link request has changed since it was read. */
export async function readAgain<Access extends LinkAccess>(
  { store }: Pick<Dependencies, 'store'>,
  access: Access,
): Promise<Access> {
  const { id } = access.link;
  const link = await store.findLink(id);
  if (link === null) throw DomainError.because(access.lost.unknown, { link_id: id });
  return { ...access, link };
}

export function refuseLost(
  service: Pick<Dependencies, 'clock' | 'linking'>,
  { link, lost }: LinkAccess,
  initiator: Initiator,
): never {
  refuseDecided(link);
  refuseExpired(service, link, initiator);
  throw DomainError.because(lost.superseded, subjectOf(link));
}
