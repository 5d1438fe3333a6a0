import type { Milliseconds } from '@latchkey/domain/clock';
import {
  hashCredential,
  mintCredential,
  newId,
  sameHash,
} from '@latchkey/domain/credentials/credentials';
import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { CONNECTIONS_LIFETIME, COOKIE_MISSED, TICKET_LIFETIME } from '@latchkey/domain/lifetimes';
import type { Reason } from '@latchkey/domain/reasons';
import { credentialParts, isUuid } from '@latchkey/schema';
import type { AccountRecord, PageRecord } from '@latchkey/store/records';
import { holdsSession } from '@latchkey/store/secrets';
import type { Dependencies } from '../dependencies.ts';
import { findLinkRequest, type LinkAccess, type LinkFaults, subjectOf } from './link-access.ts';
import { linkingOf } from './linking.ts';
import type { LinkingApplication } from './linking-application.ts';

export type PageAddress = { kind: 'consent'; link_id: string } | { kind: 'connections' };

export interface PageSession {
  page: PageRecord;
  account: AccountRecord;
  access: LinkAccess<{ page_id: string }> | null;
}

export interface NewPage {
  page: PageRecord;
  url: string;
}

export function newPage(
  service: Pick<Dependencies, 'linking'>,
  members: Omit<
    PageRecord,
    'id' | 'ticket_hash' | 'ticket_expires_at' | 'opened_at' | 'waiting' | 'session_hash'
  >,
  path: string,
  now: Milliseconds,
): NewPage {
  const id = newId(now);
  const ticket = mintCredential('pageTicket', id);
  return {
    page: {
      id,
      ...members,
      ticket_hash: ticket.hash,
      ticket_expires_at: now + TICKET_LIFETIME,
      opened_at: null,
      waiting: null,
      session_hash: null,
    },
    url: `${linkingOf(service).publicUrl}${path}?ticket=${ticket.credential}`,
  };
}

const pageFaults: LinkFaults = {
  unknown: 'page_link_unknown',
  deletedApplication: 'page_of_deleted_application',
  disabledApplication: 'page_of_disabled_application',
  redirectUriRemoved: 'page_redirect_uri_removed',
  scopeRemoved: 'page_scope_removed',
  resourceRemoved: 'page_resource_removed',
};

/**
 * A session that comes back: of several, the first one is the page's, and the others end. Does not check whether the
 * link request is decided or expired.
 */
export async function returnToPage(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  address: PageAddress,
  session: string | null,
): Promise<PageSession> {
  const found = await findPageSession(service, address, session);
  if (session === null || found.page.session_hash !== null) return found;
  const page = await service.store.returnToPage(found.page.id, hashCredential(session));
  if (page === null) throw refuse('page_session_wrong', address, found.page);
  return { ...found, page };
}

async function findPageSession(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  address: PageAddress,
  session: string | null,
): Promise<PageSession> {
  if (session === null) throw refuse('page_cookie_missing', address);
  const parts = credentialParts('pageSession', session);
  if (parts === null) throw refuse('page_session_ill_formed', address);
  const [page, account] = await Promise.all([
    findPage(service, address, parts.id),
    service.store.findPageAccount(parts.id),
  ]);
  if (!holdsSession(page, hashCredential(session))) {
    throw refuse('page_session_wrong', address, page);
  }
  // The page of an expired link request leads back to the application.
  if (page.kind === 'connections' && service.clock() >= page.expires_at) {
    throw refuse('page_session_over', address, page);
  }
  if (account === 'signed_out') throw refuse('page_signed_out', address, page);
  const access = page.link_id === null ? null : await accessByPage(service, page, parts.random);
  if (account === null) throw refuse('page_account_erased', address, page);
  return { page, account, access };
}

export interface OpenedPage {
  page: PageRecord;
  session: string | null;
}

/** A browser that has opened a page a moment ago, and has not kept its cookie. */
export interface CookiesRefused {
  page: PageRecord;
  /** Null if its link request can't be decided any more. */
  application: LinkingApplication | null;
  error: DomainError;
}

/** @param opened - the id of a page, as a request without a cookie has it */
export async function findCookiesRefused(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  address: PageAddress,
  opened: string | null,
): Promise<CookiesRefused | null> {
  const page = opened !== null && isUuid(opened) ? await service.store.findPage(opened) : null;
  if (page === null || !isPageOf(page, address) || page.waiting === null) return null;
  if (service.clock() >= (page.opened_at ?? 0) + COOKIE_MISSED) return null;
  const error = refuse('page_cookie_refused', address, page);
  if (page.link_id === null) return { page, application: null, error };
  const found = await findLinkRequest(service, page.link_id, pageFaults).catch(nullIfRefused);
  return { page, application: found?.application ?? null, error };
}

function nullIfRefused(error: unknown): null {
  if (error instanceof DomainError) return null;
  throw error;
}

/**
 * A ticket is used up by the session that comes back: the response to it may never have reached a person. The same
 * browser may send it again, by a reload or the back button.
 */
export async function openPage(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  address: PageAddress,
  ticket: string,
  session: string | null,
  initiator: Initiator,
): Promise<OpenedPage> {
  const { store, clock } = service;
  const parts = credentialParts('pageTicket', ticket);
  if (parts === null) throw refuse('page_ticket_ill_formed', address);
  const [page, account] = await Promise.all([
    findPage(service, address, parts.id),
    store.findPageAccount(parts.id),
  ]);
  const ticket_hash = hashCredential(ticket);
  if (!sameHash(page.ticket_hash, ticket_hash)) throw refuse('page_ticket_wrong', address, page);
  if (account === 'signed_out') throw refuse('page_signed_out', address, page);
  if (page.session_hash === null) {
    if (page.link_id !== null) await accessByPage(service, page, parts.random);
    const now = clock();
    if (page.opened_at === null && now >= page.ticket_expires_at) {
      throw refuse('page_ticket_expired', address, page);
    }
    const own = mintCredential('pageSession', page.id);
    const opened = await store.openPage({
      page_id: page.id,
      ticket_hash,
      session_hash: own.hash,
      expires_at: page.kind === 'consent' ? page.expires_at : now + CONNECTIONS_LIFETIME,
      now,
      initiator,
    });
    if (opened !== null) return { page: opened, session: own.credential };
    // It was opened long ago, or often, or its session comes back just now.
  }
  if (session === null) throw refuse('page_ticket_used', address, page);
  const { page: latest } = await findPageSession(service, address, session);
  return { page: latest, session: null };
}

async function findPage(
  { store }: Pick<Dependencies, 'store'>,
  address: PageAddress,
  page_id: string,
): Promise<PageRecord> {
  const page = await store.findPage(page_id);
  if (page === null) throw refuse('page_unknown', address);
  if (!isPageOf(page, address)) throw refuse('page_of_another_address', address, page);
  return page;
}

const isPageOf = ({ link_id }: PageRecord, address: PageAddress) =>
  address.kind === 'consent' ? link_id === address.link_id : link_id === null;

async function accessByPage(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  { id, link_id, account_id }: PageRecord,
  key: Uint8Array,
): Promise<LinkAccess<{ page_id: string }>> {
  const found = await findLinkRequest(service, link_id as string, pageFaults);
  const { link } = found;
  if (link.page_id !== id) {
    throw DomainError.because('page_superseded', { ...subjectOf(link), account_id });
  }
  return {
    ...found,
    holder: { page_id: id },
    decided_by: id,
    key,
    lost: { unknown: pageFaults.unknown, superseded: 'page_superseded' },
  };
}

function refuse(reason: Reason, address: PageAddress, page?: PageRecord): DomainError {
  // The path may contain anything, even a credential.
  const isKnown = address.kind === 'consent' && isUuid(address.link_id);
  return DomainError.because(reason, {
    ...(isKnown && { link_id: address.link_id }),
    ...accountSubject(page?.account_id),
  });
}
