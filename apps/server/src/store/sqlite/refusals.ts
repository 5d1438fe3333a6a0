import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { RefusalRecord } from '../records.ts';
import type { ListRange } from '../store.ts';
import { bytesOrNull, idOrNull, rangeParameters } from './rows.ts';

type RefusalRow = Pick<
  RefusalRecord,
  'at' | 'request_id' | 'operation' | 'error_code' | 'reason' | 'address' | 'expires_at'
> & {
  id: Uint8Array;
  called_by: RefusalRecord['by'];
  application_id: Uint8Array | null;
  grant_id: Uint8Array | null;
  key_id: Uint8Array | null;
};

export function prepareRefusals(database: DatabaseSync) {
  const keep = database.prepare(`
    INSERT OR IGNORE INTO refusals
      (id, at, request_id, operation, error_code, reason, called_by, application_id, grant_id,
        key_id, address, expires_at)
    VALUES
      (:id, :at, :request_id, :operation, :error_code, :reason, :by, :application_id, :grant_id,
        :key_id, :address, :expires_at)`);
  const findBy = (column: 'request_id' | 'grant_id') =>
    database.prepare(
      `SELECT * FROM refusals WHERE ${column} = :value AND id < :before
        ORDER BY id DESC LIMIT :limit`,
    );
  const findByRequest = findBy('request_id');
  const findByGrant = findBy('grant_id');
  const findFirst = database.prepare(
    'SELECT * FROM refusals WHERE request_id = ? ORDER BY id LIMIT 1',
  );

  return {
    keepRefusals(refusals: readonly RefusalRecord[]): void {
      for (const { id, application_id, grant_id, key_id, ...rest } of refusals) {
        keep.run({
          id: uuidToBytes(id),
          application_id: bytesOrNull(application_id),
          grant_id: bytesOrNull(grant_id),
          key_id: bytesOrNull(key_id),
          ...rest,
        });
      }
    },

    findRefusals(
      filter: { request_id: string } | { grant_id: string },
      range: ListRange,
    ): RefusalRecord[] {
      const [find, value] =
        'request_id' in filter
          ? [findByRequest, filter.request_id]
          : [findByGrant, uuidToBytes(filter.grant_id)];
      const rows = find.all({ value, ...rangeParameters(range) });
      return (rows as RefusalRow[]).map(refusalRecord);
    },

    findFirstRefusal(request_id: string): RefusalRecord | null {
      const row = findFirst.get(request_id) as RefusalRow | undefined;
      return row ? refusalRecord(row) : null;
    },
  };
}

function refusalRecord(row: RefusalRow): RefusalRecord {
  return {
    id: uuidFromBytes(row.id),
    at: row.at,
    request_id: row.request_id,
    operation: row.operation,
    error_code: row.error_code,
    reason: row.reason,
    by: row.called_by,
    application_id: idOrNull(row.application_id),
    grant_id: idOrNull(row.grant_id),
    key_id: idOrNull(row.key_id),
    address: row.address,
    expires_at: row.expires_at,
  };
}
