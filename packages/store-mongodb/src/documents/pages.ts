import type { PageRecord } from '@latchkey/store/records';
import type { Change } from '@latchkey/store/store';
import type { Binary } from 'mongodb';
import {
  fromHash,
  fromId,
  type InitiatorDocument,
  initiatorField,
  toDate,
  toHash,
  toId,
} from './values.ts';

interface PageInitiators {
  create_initiator?: InitiatorDocument;
  open_initiator?: InitiatorDocument;
}

export interface PageDocument extends PageInitiators {
  _id: Binary;
  kind: PageRecord['kind'];
  link_id: Binary | null;
  account_id: Binary;
  /** As in a grant. Absent for a moment while the page is created: no caller knows it yet. */
  account_revision?: number;
  /** Of the account, at the creation. */
  sign_outs?: number;
  ticket_hash: Binary;
  ticket_expires_at: Date;
  session_hash?: Binary;
  expires_at: Date;
  return_url: string | null;
  locale: string | null;
}

export function toPageDocument(page: PageRecord & Change): PageDocument {
  return {
    _id: toId(page.id),
    kind: page.kind,
    link_id: page.link_id === null ? null : toId(page.link_id),
    account_id: toId(page.account_id),
    ticket_hash: toHash(page.ticket_hash),
    ticket_expires_at: toDate(page.ticket_expires_at),
    expires_at: toDate(page.expires_at),
    return_url: page.return_url,
    locale: page.locale,
    ...initiatorField('create_initiator', page.initiator),
  };
}

export function fromPageDocument(document: PageDocument): PageRecord {
  return {
    id: fromId(document._id),
    kind: document.kind,
    link_id: document.link_id && fromId(document.link_id),
    account_id: fromId(document.account_id),
    ticket_hash: fromHash(document.ticket_hash),
    ticket_expires_at: document.ticket_expires_at.getTime(),
    session_hash: document.session_hash ? fromHash(document.session_hash) : null,
    expires_at: document.expires_at.getTime(),
    return_url: document.return_url,
    locale: document.locale,
  };
}
