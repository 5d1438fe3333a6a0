import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { type EventType, uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { endpointChanges } from '@latchkey/store/delivery';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import type { EndpointRecord } from '@latchkey/store/records';
import type { EndpointChanges, ListRange } from '@latchkey/store/store';
import { bytesOrNull, idOrNull, rangeParameters } from './rows.ts';

export type EndpointRow = Omit<EndpointRecord, 'id' | 'application_id' | 'types'> & {
  id: Uint8Array;
  application_id: Uint8Array | null;
  types: string | null;
};

/** Those of a deleted application are told of the ends of its grants, and found by nobody. */
export const EXISTING = `(application_id IS NULL OR EXISTS
  (SELECT 1 FROM applications a WHERE a.id = endpoints.application_id AND a.deleted_at IS NULL))`;

export function prepareHasEndpoints(database: DatabaseSync): () => boolean {
  const find = database.prepare('SELECT 1 FROM endpoints WHERE id != ? LIMIT 1');
  return () => find.get(uuidToBytes(DEMO_ENDPOINT_ID)) !== undefined;
}

export function prepareEndpoints(database: DatabaseSync) {
  const count = database.prepare(
    'SELECT count(*) AS endpoints FROM endpoints WHERE application_id IS ?',
  );
  const findApplication = database.prepare(
    'SELECT 1 FROM applications WHERE id = ? AND deleted_at IS NULL',
  );
  const insert = database.prepare(`
    INSERT INTO endpoints (id, application_id, url, types, disabled_reason, created_at, secret_version,
      overlap_until, last_success_at, failing_since, failures)
    VALUES (:id, :application_id, :url, :types, :disabled_reason, :created_at, :secret_version,
      :overlap_until, :last_success_at, :failing_since, :failures)`);
  const find = database.prepare(`SELECT * FROM endpoints WHERE id = ? AND ${EXISTING}`);
  const listWhere = (which: string) =>
    database.prepare(`
      SELECT * FROM endpoints WHERE ${which} AND ${EXISTING} AND id < :before
      ORDER BY id DESC LIMIT :limit`);
  const listAll = listWhere('TRUE');
  const listOf = listWhere('application_id IS :application_id');
  const replace = database.prepare(`
    UPDATE endpoints SET url = :url, types = :types, disabled_reason = :disabled_reason,
      secret_version = :secret_version, overlap_until = :overlap_until,
      last_success_at = :last_success_at, failing_since = :failing_since, failures = :failures
    WHERE id = :id`);
  const remove = database.prepare('DELETE FROM endpoints WHERE id = ?');

  function findEndpoint(endpoint_id: string): EndpointRecord | null {
    const row = find.get(uuidToBytes(endpoint_id)) as EndpointRow | undefined;
    return row ? endpointRecord(row) : null;
  }

  function change(before: EndpointRecord, changes: Partial<EndpointRecord>): EndpointRecord {
    const after = { ...before, ...changes };
    const { created_at: _, application_id: __, ...columns } = endpointRow(after);
    replace.run(columns);
    return after;
  }

  return {
    change,

    createEndpoint(endpoint: EndpointRecord, { most }: { most: number }) {
      const owner = bytesOrNull(endpoint.application_id);
      if (owner && !findApplication.get(owner)) return 'application_not_found';
      if (Number(count.get(owner)?.endpoints) >= most) return 'endpoint_limit_reached';
      insert.run(endpointRow(endpoint));
      return 'created';
    },

    listEndpoints(
      { application_id }: { application_id?: string | null | undefined },
      range: ListRange,
    ): EndpointRecord[] {
      const parameters = rangeParameters(range);
      const rows =
        application_id === undefined
          ? listAll.all(parameters)
          : listOf.all({ ...parameters, application_id: bytesOrNull(application_id) });
      return (rows as EndpointRow[]).map(endpointRecord);
    },

    findEndpoint,

    updateEndpoint(endpoint_id: string, changes: EndpointChanges): EndpointRecord | null {
      const found = findEndpoint(endpoint_id);
      return found && change(found, endpointChanges(found, changes));
    },

    rotateEndpoint(
      endpoint_id: string,
      { overlap_until }: { overlap_until: Milliseconds | null },
    ): EndpointRecord | null {
      const found = findEndpoint(endpoint_id);
      return found && change(found, { secret_version: found.secret_version + 1, overlap_until });
    },

    deleteEndpoint(endpoint_id: string): EndpointRecord | null {
      const found = findEndpoint(endpoint_id);
      if (found !== null) remove.run(uuidToBytes(endpoint_id));
      return found;
    },
  };
}

export function endpointRecord(row: EndpointRow): EndpointRecord {
  return {
    ...row,
    id: uuidFromBytes(row.id),
    application_id: idOrNull(row.application_id),
    types: row.types === null ? null : (JSON.parse(row.types) as EventType[]),
  };
}

export function endpointRow(endpoint: EndpointRecord) {
  const { id, application_id, types, url, disabled_reason, created_at } = endpoint;
  const { secret_version, overlap_until, last_success_at, failing_since, failures } = endpoint;
  return {
    id: uuidToBytes(id),
    application_id: bytesOrNull(application_id),
    types: types && JSON.stringify(types),
    ...{ url, disabled_reason, created_at, secret_version, overlap_until },
    ...{ last_success_at, failing_since, failures },
  };
}
