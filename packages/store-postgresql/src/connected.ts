import { applications } from '@latchkey/store/kinds';
import type { ConnectedApplication } from '@latchkey/store/records';
import { decoderOf } from '@latchkey/store/sql';
import type { Database } from './database.ts';
import { dialect } from './dialect.ts';
import { FENCED } from './fence.ts';

const FIELDS = ['name', 'document', 'redirect_uris'];
const decode = decoderOf(dialect, applications, FIELDS);

/** Goes from one application to the next one, however many grants it has. */
const next = (condition: string) => `(
  SELECT application_id FROM grants WHERE account_id = $1 AND revoked_at IS NULL ${condition}
  ORDER BY application_id LIMIT 1)`;
const LIST = `
  WITH RECURSIVE connected (id) AS (
    SELECT ${next('')}
    UNION ALL
    SELECT ${next('AND application_id > connected.id')} FROM connected WHERE connected.id IS NOT NULL)
  SELECT connected.id AS application_id, application.id, ${FIELDS.map((name) => `application.${name}`).join(', ')}
  FROM connected LEFT JOIN applications application
    ON application.id = connected.id AND application.deleted_at IS NULL
  WHERE connected.id IS NOT NULL AND ${FENCED}`;

export async function connectedApplications(
  database: Database,
  account_id: string,
): Promise<ConnectedApplication[]> {
  const rows = await database.read(LIST, [account_id]);
  return rows.map((row) => ({
    application_id: row.application_id,
    application:
      row.id === null ? null : (decode(row) as unknown as ConnectedApplication['application']),
  }));
}
