import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { type EventType, uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { DecidedEvent } from '@latchkey/store/adapter';
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
import type { RecordOf } from '@latchkey/store/kind';
import { deliveries, endpoints as endpointKind, grants } from '@latchkey/store/kinds';
import type { StoredReason } from '@latchkey/store/records';
import { HOST_OWNER } from '@latchkey/store/records';
import { decoderOf } from '@latchkey/store/sql';
import { dialect, rowOf } from './adapter.ts';
import { UPDATE_MANY_DELIVERIES } from './delivery-rows.ts';
import { idOrNull, initiatorRecord } from './rows.ts';

type OutboxRow = {
  number: number;
  type: EventType;
  about: Uint8Array;
  at: number;
  name: string | null;
};

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

const host = uuidToBytes(HOST_OWNER);

/**
 * From now on, each change of a grant that is an event is recorded in its transaction, whichever
 * statement makes it. The triggers are of the connection: without EVENTS_KEY no statement has any.
 */
export function recordEvents(database: DatabaseSync): void {
  for (const [type, field] of Object.entries(grants.events ?? {})) {
    database.exec(`
      CREATE TEMP TRIGGER record_${field}_of_grants AFTER UPDATE OF ${field} ON main.grants
        WHEN OLD.${field} IS NULL AND NEW.${field} IS NOT NULL
      BEGIN
        INSERT INTO outbox (type, about, at) VALUES ('${type}', NEW.id, NEW.${field});
      END`);
  }
}

/** Records an event of a decision, with what it needs: the next change may remove its record. */
export function prepareRecord(database: DatabaseSync): (key: string, event: DecidedEvent) => void {
  const insert = database.prepare(
    'INSERT INTO outbox (type, about, at, name) VALUES (:type, :about, :at, :name)',
  );
  return (key, { type, at, name = null }) =>
    void insert.run({ type, about: uuidToBytes(key), at, name });
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
  const findIds = database.prepare('SELECT ids FROM endpoint_owners WHERE owner = ?');
  const findEndpoint = database.prepare('SELECT * FROM endpoints WHERE id = ?');
  const decode = decoderOf(dialect, endpointKind, Object.keys(endpointKind.fields));
  const toRow = rowOf(deliveries);
  const names = Object.keys(deliveries.fields).filter(
    (name) => name !== 'round' && name !== 'account_revision',
  );
  // The id of an event's delivery is made of the event and the endpoint.
  const insert = database.prepare(`
    INSERT OR IGNORE INTO deliveries (${names.join(', ')})
    VALUES (${names.map((name) => `:${name}`).join(', ')})`);
  // A disabled application is not told of its accounts.
  const dropOfDisabled = database.prepare(`
    ${UPDATE_MANY_DELIVERIES} SET status = 'dropped', due_at = NULL, claim = NULL, ended_at = :now
    WHERE status = 'pending' AND type = 'account.updated' AND round IS NULL AND endpoint_id = :id`);

  /** Null if it is gone. */
  function findEvent({
    type,
    about,
    at,
    name,
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
      const disabled = type === 'application.disabled';
      const event = applicationChanged(
        { id: randomUUID(), at },
        { id, name: name ?? '', disabled },
      );
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
      const endpoints = new Map<string, RecordOf<typeof endpointKind>[]>();
      const endpointsOf = (owner: Uint8Array) => {
        const key = uuidFromBytes(owner);
        const known = endpoints.get(key);
        if (known !== undefined) return known;
        const ids: string[] = JSON.parse((findIds.get(owner)?.ids as string | undefined) ?? '[]');
        const rows = ids.map((id) => findEndpoint.get(uuidToBytes(id)));
        const found = rows.flatMap((row) => (row ? decode(row) : [])) as unknown as RecordOf<
          typeof endpointKind
        >[];
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
        const owners = [host, ...(isForApplications(row.type) ? event.applications : [])];
        for (const one of owners.flatMap(endpointsOf)) {
          if (isToldOf(one, row.type))
            insert.run(toRow({ ...newDelivery(event, one.id, now), generation: one.generation }));
        }
        if (row.type === 'application.disabled') {
          for (const { id } of endpointsOf(row.about)) {
            dropOfDisabled.run({ id: uuidToBytes(id), now });
          }
        }
      }
      remove.run(last.number);
      return rows.length === BATCH_SIZE;
    },
  };
}
