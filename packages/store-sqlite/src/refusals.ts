import type { DatabaseSync } from 'node:sqlite';
import { leastIdSince } from '@latchkey/domain/credentials/credentials';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { RefusalRecord } from '@latchkey/store/records';
import type { RefusalFilter, RefusalRange } from '@latchkey/store/store';
import { bytesOrNull, idOrNull, rangeParameters } from './rows.ts';

type RefusalRow = Pick<
  RefusalRecord,
  'at' | 'request_id' | 'operation' | 'error_code' | 'reason' | 'address' | 'expires_at'
> & {
  id: Uint8Array;
  called_by: RefusalRecord['by'];
  application_id: Uint8Array | null;
  account_id: Uint8Array | null;
  grant_id: Uint8Array | null;
  key_id: Uint8Array | null;
};

export function prepareRefusals(database: DatabaseSync) {
  const keep = database.prepare(`
    INSERT OR IGNORE INTO refusals
      (id, at, request_id, operation, error_code, reason, called_by, application_id, account_id,
        grant_id, key_id, address, expires_at)
    VALUES
      (:id, :at, :request_id, :operation, :error_code, :reason, :by, :application_id, :account_id,
        :grant_id, :key_id, :address, :expires_at)`);
  const find = (which: string) =>
    database.prepare(
      `SELECT * FROM refusals WHERE ${which} id >= :from AND id < :before
        ORDER BY id DESC LIMIT :limit`,
    );
  const findAll = find('');
  const findByRequest = find('request_id = :value AND');
  const findByApplication = find('application_id = :value AND');
  const findByAccount = find('account_id = :value AND');
  const findByGrant = find('grant_id = :value AND');
  const findFirst = database.prepare(
    'SELECT * FROM refusals WHERE request_id = :request_id AND id >= :from ORDER BY id LIMIT 1',
  );

  function findRows(filter: RefusalFilter, range: RefusalRange) {
    const parameters = { ...rangeParameters(range), from: firstId(range) };
    if ('request_id' in filter) {
      return findByRequest.all({ ...parameters, value: filter.request_id });
    }
    if ('application_id' in filter) {
      return findByApplication.all({ ...parameters, value: uuidToBytes(filter.application_id) });
    }
    if ('account_id' in filter) {
      return findByAccount.all({ ...parameters, value: uuidToBytes(filter.account_id) });
    }
    if ('grant_id' in filter) {
      return findByGrant.all({ ...parameters, value: uuidToBytes(filter.grant_id) });
    }
    return findAll.all(parameters);
  }

  return {
    keepRefusals(refusals: readonly RefusalRecord[]): void {
      for (const { id, application_id, account_id, grant_id, key_id, ...rest } of refusals) {
        keep.run({
          id: uuidToBytes(id),
          application_id: bytesOrNull(application_id),
          account_id: bytesOrNull(account_id),
          grant_id: bytesOrNull(grant_id),
          key_id: bytesOrNull(key_id),
          ...rest,
        });
      }
    },

    findRefusals: (filter: RefusalFilter, range: RefusalRange): RefusalRecord[] =>
      (findRows(filter, range) as RefusalRow[]).map(refusalRecord),

    findFirstRefusal(
      request_id: string,
      range: Pick<RefusalRange, 'since'> = {},
    ): RefusalRecord | null {
      const row = findFirst.get({ request_id, from: firstId(range) }) as RefusalRow | undefined;
      return row ? refusalRecord(row) : null;
    },
  };
}

const firstId = ({ since = 0 }: Pick<RefusalRange, 'since'>) => uuidToBytes(leastIdSince(since));

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
    account_id: idOrNull(row.account_id),
    grant_id: idOrNull(row.grant_id),
    key_id: idOrNull(row.key_id),
    address: row.address,
    expires_at: row.expires_at,
  };
}
