import type { AttemptRecord, DeliveryRecord } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import { fromId, toDate, toId } from './values.ts';

export type AttemptDocument = Omit<AttemptRecord, 'at'> & { at: Date };

/** What is null in the record is absent. The revision is how often its timetable began anew. */
export interface DeliveryDocument
  extends Versioned,
    Pick<DeliveryRecord, 'type' | 'status' | 'tries'> {
  _id: Binary;
  endpoint_id: Binary;
  event_id: Binary;
  grant_id?: Binary;
  account_id?: Binary;
  /** Of the account when an `account.updated` was made. An erasure takes bodies of earlier ones away. */
  account_revision?: number;
  /** Absent for a moment while an `account.updated` is made, too. */
  body?: string;
  created_at: Date;
  due_at?: Date;
  claim?: string;
  attempts: AttemptDocument[];
  ended_at?: Date;
}

export const toAttemptDocument = ({ at, ...attempt }: AttemptRecord): AttemptDocument => ({
  at: toDate(at),
  ...attempt,
});

export function toDeliveryDocument(delivery: DeliveryRecord): DeliveryDocument {
  const { grant_id, account_id, body, due_at, claim, ended_at } = delivery;
  return {
    _id: toId(delivery.id),
    endpoint_id: toId(delivery.endpoint_id),
    event_id: toId(delivery.event_id),
    type: delivery.type,
    ...(grant_id !== null && { grant_id: toId(grant_id) }),
    ...(account_id !== null && { account_id: toId(account_id) }),
    ...(body !== null && { body }),
    status: delivery.status,
    created_at: toDate(delivery.created_at),
    ...(due_at !== null && { due_at: toDate(due_at) }),
    ...(claim !== null && { claim }),
    tries: delivery.tries,
    attempts: delivery.attempts.map(toAttemptDocument),
    ...(ended_at !== null && { ended_at: toDate(ended_at) }),
  };
}

export function fromDeliveryDocument(document: DeliveryDocument): DeliveryRecord {
  return {
    id: fromId(document._id),
    endpoint_id: fromId(document.endpoint_id),
    event_id: fromId(document.event_id),
    type: document.type,
    grant_id: document.grant_id ? fromId(document.grant_id) : null,
    account_id: document.account_id ? fromId(document.account_id) : null,
    body: document.body ?? null,
    status: document.status,
    created_at: document.created_at.getTime(),
    due_at: document.due_at?.getTime() ?? null,
    claim: document.claim ?? null,
    tries: document.tries,
    attempts: document.attempts.map(({ at, ...attempt }) => ({ at: at.getTime(), ...attempt })),
    ended_at: document.ended_at?.getTime() ?? null,
  };
}
