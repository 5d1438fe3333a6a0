import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { type EventType, uuidFromBytes } from '@latchkey/schema';
import { isToldOf, newDelivery } from '@latchkey/store/delivery';
import { endReason } from '@latchkey/store/end-reason';
import {
  accountUpdated,
  applicationChanged,
  type Event,
  grantCreated,
  grantRevoked,
  isForApplications,
} from '@latchkey/store/event';
import type { StoredReason } from '@latchkey/store/records';
import { DROPPED, deliveryRow, INSERT_DELIVERY, UPDATE_MANY_DELIVERIES } from './delivery-rows.ts';
import { type EndpointRow, endpointRecord } from './endpoints.ts';
import { idOrNull, initiatorRecord } from './rows.ts';

type OutboxRow = { number: number; type: EventType; about: Uint8Array; at: number };

type ToldRow = {
  application_id: Uint8Array;
  account_id: Uint8Array | null;
  resource: string | null;
  scope: string | null;
  created_at: number;
  revoked_at: number | null;
  revoked_by: string | null;
  revoked_reason: StoredReason | null;
  document_uri: string | null;
};

// An event is at most 8 inserts, so a batch blocks the thread for about 10 ms.
const BATCH_SIZE = 100;

/**
 * From now on, each change of this connection that is an event is recorded in its transaction, whichever
 * statement makes it. The triggers are of the connection: without EVENTS_KEY no statement has any.
 */
export function recordEvents(database: DatabaseSync, clock: Clock): void {
  database.function('latchkey_now', () => clock());
  const record = (name: string, on: string, type: string, at: string) =>
    database.exec(`
      CREATE TEMP TRIGGER ${name} AFTER UPDATE OF ${on} BEGIN
        INSERT INTO outbox (type, about, at) VALUES (${type}, NEW.id, ${at});
      END`);
  record(
    'record_created_grant',
    'created_at ON main.grants WHEN OLD.created_at IS NULL AND NEW.created_at IS NOT NULL',
    "'grant.created'",
    'NEW.created_at',
  );
  record(
    'record_revoked_grant',
    'revoked_at ON main.grants WHEN OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL',
    "'grant.revoked'",
    'NEW.revoked_at',
  );
  record(
    'record_updated_account',
    `account ON main.accounts WHEN json_remove(OLD.account, '$.external_id')
      != json_remove(NEW.account, '$.external_id')`,
    "'account.updated'",
    'latchkey_now()',
  );
  record(
    'record_disabling',
    'disabled ON main.applications WHEN OLD.disabled IS NOT NEW.disabled',
    "iif(NEW.disabled, 'application.disabled', 'application.enabled')",
    'latchkey_now()',
  );
}

export function prepareOutbox(database: DatabaseSync) {
  const list = database.prepare(`SELECT * FROM outbox ORDER BY number LIMIT ${BATCH_SIZE}`);
  const remove = database.prepare('DELETE FROM outbox WHERE number <= ?');
  const findGrant = database.prepare(`
    SELECT g.application_id, g.account_id, g.resource, g.scope, g.created_at, g.revoked_at,
      g.revoked_by, g.revoked_reason, coalesce(a.document ->> 'uri', a.document_uri) AS document_uri
    FROM grants g LEFT JOIN applications a ON a.id = g.application_id
    WHERE g.id = ?`);
  const findAccount = database.prepare(
    'SELECT account FROM accounts WHERE id = ? AND account IS NOT NULL',
  );
  const listConnected = database.prepare(`
    SELECT DISTINCT application_id FROM grants
    WHERE account_id = ? AND revoked_at IS NULL AND created_at IS NOT NULL`);
  const findApplication = database.prepare(
    'SELECT name FROM applications WHERE id = ? AND deleted_at IS NULL',
  );
  const listEndpoints = database.prepare('SELECT * FROM endpoints WHERE application_id IS ?');
  const insert = database.prepare(INSERT_DELIVERY);
  // A disabled application is not told of its accounts.
  const dropOfDisabled = database.prepare(`
    ${UPDATE_MANY_DELIVERIES} SET ${DROPPED}
    WHERE status = 'pending' AND type = 'account.updated'
      AND endpoint_id IN (SELECT id FROM endpoints WHERE application_id = :application_id)`);

  /** Null if it is gone. */
  function findEvent({
    type,
    about,
    at,
  }: OutboxRow): (Event & { applications: Uint8Array[] }) | null {
    const id = uuidFromBytes(about);
    if (type === 'account.updated') {
      const row = findAccount.get(about) as { account: string } | undefined;
      if (row === undefined) return null;
      const event = accountUpdated({ id: randomUUID(), at }, JSON.parse(row.account));
      const connected = listConnected.all(about) as { application_id: Uint8Array }[];
      return { ...event, applications: connected.map(({ application_id }) => application_id) };
    }
    if (type === 'application.disabled' || type === 'application.enabled') {
      const row = findApplication.get(about) as { name: string } | undefined;
      if (row === undefined) return null;
      const disabled = type === 'application.disabled';
      const event = applicationChanged({ id: randomUUID(), at }, { id, name: row.name, disabled });
      return { ...event, applications: [about] };
    }
    const row = findGrant.get(about) as ToldRow | undefined;
    if (row === undefined) return null;
    const grant = {
      grant_id: id,
      application_id: uuidFromBytes(row.application_id),
      account_id: idOrNull(row.account_id),
      ...{ resource: row.resource, document_uri: row.document_uri, scope: row.scope },
      created_at: row.created_at,
    };
    if (type === 'grant.created') return { ...grantCreated(grant), applications: [] };
    const { revoked_reason } = row;
    const reason = endReason({ revoked_by: initiatorRecord(row.revoked_by), revoked_reason });
    const event = grantRevoked({ ...grant, revoked_at: at, reason });
    return { ...event, applications: [row.application_id] };
  }

  return {
    makeDeliveries(now: Milliseconds): boolean {
      const rows = list.all() as OutboxRow[];
      const last = rows.at(-1);
      if (last === undefined) return false;
      // Most batches are of few owners.
      const endpoints = new Map<string, ReturnType<typeof endpointRecord>[]>();
      const endpointsOf = (owner: Uint8Array | null) => {
        const key = owner === null ? '' : uuidFromBytes(owner);
        const found =
          endpoints.get(key) ?? (listEndpoints.all(owner) as EndpointRow[]).map(endpointRecord);
        endpoints.set(key, found);
        return found;
      };
      const tellAgain = new Set<string>();
      for (const row of rows.toReversed()) {
        if (row.type === 'account.updated') {
          // The message has the account as it is now, so one is enough.
          const key = uuidFromBytes(row.about);
          if (tellAgain.has(key)) continue;
          tellAgain.add(key);
        }
        const event = findEvent(row);
        if (event === null) continue;
        const owners = isForApplications(row.type) ? [null, ...event.applications] : [null];
        for (const { id } of owners.flatMap(endpointsOf).filter((one) => isToldOf(one, row.type))) {
          insert.run(deliveryRow(newDelivery(event, id, now)));
        }
        if (row.type === 'application.disabled') {
          dropOfDisabled.run({ application_id: row.about, now });
        }
      }
      remove.run(last.number);
      return rows.length === BATCH_SIZE;
    },
  };
}
