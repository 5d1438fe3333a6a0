import type { Milliseconds } from '@latchkey/domain/clock';
import { mintCredential, newId } from '@latchkey/domain/credentials/credentials';
import { TICKET_LIFETIME } from '@latchkey/domain/lifetimes';
import type { LinkRecord, PageRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { linkingOf } from './linking.ts';

export interface NewPage {
  page: PageRecord;
  url: string;
}

type Asked = Pick<PageRecord, 'account_id' | 'return_url' | 'locale'>;

export function newConsentPage(
  service: Pick<Dependencies, 'linking'>,
  link: LinkRecord,
  asked: Asked,
  now: Milliseconds,
): NewPage {
  const about = { kind: 'consent', link_id: link.id, expires_at: link.expires_at } as const;
  return newPage(service, { ...about, ...asked }, `/link/${link.id}`, now);
}

export function newConnectionsPage(
  service: Pick<Dependencies, 'linking'>,
  asked: Asked,
  now: Milliseconds,
): NewPage {
  // It lives longer once it is opened.
  const about = { kind: 'connections', link_id: null, expires_at: now + TICKET_LIFETIME } as const;
  return newPage(service, { ...about, ...asked }, '/connections', now);
}

function newPage(
  service: Pick<Dependencies, 'linking'>,
  members: Omit<PageRecord, 'id' | 'ticket_hash' | 'ticket_expires_at' | 'session_hash'>,
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
      session_hash: null,
    },
    url: `${linkingOf(service).publicUrl}${path}?ticket=${ticket.credential}`,
  };
}
