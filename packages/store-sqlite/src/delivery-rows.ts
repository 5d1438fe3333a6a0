import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { DeliveryRecord } from '@latchkey/store/records';
import { bytesOrNull, idOrNull } from './rows.ts';

export type DeliveryRow = Omit<
  DeliveryRecord,
  'id' | 'endpoint_id' | 'event_id' | 'grant_id' | 'account_id' | 'attempts'
> & {
  id: Uint8Array;
  endpoint_id: Uint8Array;
  event_id: Uint8Array;
  grant_id: Uint8Array | null;
  account_id: Uint8Array | null;
  attempts: string;
};

/** Inserts nothing if it is there: the id of an event's delivery is made of the event and the endpoint. */
export const INSERT_DELIVERY = `
  INSERT INTO deliveries
    (id, endpoint_id, event_id, type, grant_id, account_id, body, status, created_at, due_at, claim,
      tries, attempts, ended_at)
  VALUES (:id, :endpoint_id, :event_id, :type, :grant_id, :account_id, :body, :status, :created_at,
    :due_at, :claim, :tries, :attempts, :ended_at)
  ON CONFLICT (id) DO NOTHING`;

/**
 * By default, SQLite keeps each page as it was before, to undo the rows that are done if one breaks a constraint:
 * 90 MiB of memory for 200,000 of them. This undoes the transaction, as a batch of writes does anyway.
 */
export const UPDATE_MANY_DELIVERIES = 'UPDATE OR ROLLBACK deliveries';

export const DROPPED = "status = 'dropped', due_at = NULL, claim = NULL, ended_at = :now";

export function deliveryRecord(row: DeliveryRow): DeliveryRecord {
  return {
    ...row,
    id: uuidFromBytes(row.id),
    endpoint_id: uuidFromBytes(row.endpoint_id),
    event_id: uuidFromBytes(row.event_id),
    grant_id: idOrNull(row.grant_id),
    account_id: idOrNull(row.account_id),
    attempts: JSON.parse(row.attempts),
  };
}

export const deliveryRow = (delivery: DeliveryRecord): DeliveryRow => ({
  ...delivery,
  id: uuidToBytes(delivery.id),
  endpoint_id: uuidToBytes(delivery.endpoint_id),
  event_id: uuidToBytes(delivery.event_id),
  grant_id: bytesOrNull(delivery.grant_id),
  account_id: bytesOrNull(delivery.account_id),
  attempts: JSON.stringify(delivery.attempts),
});
