import type { Milliseconds } from '@latchkey/domain/clock';
import { mintCredential, newId } from '@latchkey/domain/credentials/credentials';
import { TICKET_LIFETIME } from '@latchkey/domain/lifetimes';
import type { PageRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { linkingOf } from './linking.ts';

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
