import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { applications } from '@latchkey/store/kinds';
import type { ConnectedApplication } from '@latchkey/store/records';
import { decoderOf } from '@latchkey/store/sql';
import { dialect } from './adapter.ts';

const FIELDS = ['name', 'document', 'redirect_uris'];

export function prepareConnected(database: DatabaseSync) {
  // Goes from one application to the next one, however many grants it has.
  const list = database.prepare(`
    WITH RECURSIVE connected (id) AS (
      SELECT min(application_id) FROM grants INDEXED BY unrevoked_by_account
      WHERE account_id = :account_id AND revoked_at IS NULL
      UNION ALL
      SELECT (SELECT min(application_id) FROM grants INDEXED BY unrevoked_by_account
        WHERE account_id = :account_id AND revoked_at IS NULL AND application_id > connected.id)
      FROM connected WHERE connected.id IS NOT NULL)
    SELECT connected.id AS application_id, application.id, ${FIELDS.map((name) => `application.${name}`).join(', ')}
    FROM connected LEFT JOIN applications application
      ON application.id = connected.id AND application.deleted_at IS NULL
    WHERE connected.id IS NOT NULL`);
  const decode = decoderOf(dialect, applications, FIELDS);

  return {
    connectedApplications: (account_id: string): ConnectedApplication[] =>
      list.all({ account_id: uuidToBytes(account_id) }).map((row) => ({
        application_id: uuidFromBytes(row.application_id as Uint8Array),
        application:
          row.id === null ? null : (decode(row) as unknown as ConnectedApplication['application']),
      })),
  };
}
