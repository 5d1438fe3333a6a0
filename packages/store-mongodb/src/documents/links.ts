import type {
  LinkDecision,
  LinkedDocument,
  LinkedResource,
  LinkRecord,
} from '@latchkey/store/records';
import type { Change } from '@latchkey/store/store';
import { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import {
  fromHash,
  fromId,
  type InitiatorDocument,
  initiatorField,
  toDate,
  toHash,
  toId,
} from './values.ts';

interface LinkInitiators {
  begin_initiator?: InitiatorDocument;
  identify_initiator?: InitiatorDocument;
  switch_initiator?: InitiatorDocument;
  decide_initiator?: InitiatorDocument;
}

/** The revision counts identifications and switches. Every other change happens once. */
export interface LinkDocument extends Versioned, LinkInitiators {
  _id: Binary;
  link_hash: Binary;
  /** Absent before the first approval of an application with a document. */
  application_id?: Binary;
  /** Absent if an operator registered the application. */
  document?: LinkedDocument;
  redirect_uri: string;
  redirect_uri_given: boolean;
  /** Absent for none. */
  resource?: Omit<LinkedResource, 'id'> & { id: Binary };
  scope: string;
  state: string | null;
  code_challenge: string | null;
  login_hint: string | null;
  ui_locales: string | null;
  salt: Binary;
  generation: number;
  description_hash: Binary;
  expires_at: Date;
  account_id?: Binary;
  /** Absent if the host has approved an account. */
  account_revision?: number;
  page_id?: Binary;
  switched?: true;
  decision?: DecisionDocument;
}

export interface DecisionDocument {
  status: LinkDecision['status'];
  decided_by: Binary;
  grant_id: Binary | null;
  scope: string | null;
  /** By this, a call whose response was lost recognises its own decision. */
  decision_id: Binary;
}

export function toLinkDocument(link: LinkRecord & Change): LinkDocument {
  return {
    _id: toId(link.id),
    link_hash: toHash(link.link_hash),
    ...(link.application_id !== null && { application_id: toId(link.application_id) }),
    ...(link.document !== null && { document: link.document }),
    redirect_uri: link.redirect_uri,
    redirect_uri_given: link.redirect_uri_given,
    ...(link.resource !== null && {
      resource: { ...link.resource, id: toId(link.resource.id) },
    }),
    scope: link.scope,
    state: link.state,
    code_challenge: link.code_challenge,
    login_hint: link.login_hint,
    ui_locales: link.ui_locales,
    salt: new Binary(link.salt),
    generation: link.generation,
    description_hash: toHash(link.description_hash),
    expires_at: toDate(link.expires_at),
    ...initiatorField('begin_initiator', link.initiator),
  };
}

export function fromLinkDocument(document: LinkDocument): LinkRecord {
  return {
    id: fromId(document._id),
    link_hash: fromHash(document.link_hash),
    application_id: document.application_id ? fromId(document.application_id) : null,
    document: document.document ?? null,
    redirect_uri: document.redirect_uri,
    redirect_uri_given: document.redirect_uri_given,
    resource: document.resource ? { ...document.resource, id: fromId(document.resource.id) } : null,
    scope: document.scope,
    state: document.state,
    code_challenge: document.code_challenge,
    login_hint: document.login_hint,
    ui_locales: document.ui_locales,
    salt: fromHash(document.salt),
    generation: document.generation,
    description_hash: fromHash(document.description_hash),
    expires_at: document.expires_at.getTime(),
    account_id: document.account_id ? fromId(document.account_id) : null,
    page_id: document.page_id ? fromId(document.page_id) : null,
    switched: document.switched ?? false,
    decision: document.decision ? fromDecision(document.decision) : null,
  };
}

function fromDecision({ status, decided_by, grant_id, scope }: DecisionDocument): LinkDecision {
  return {
    status,
    decided_by: fromId(decided_by),
    grant_id: grant_id && fromId(grant_id),
    scope,
  };
}
