import { uuidFromBytes } from '@latchkey/schema';
import type {
  AccountRecord,
  ApplicationRecord,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  PendingRecord,
  SecretRecord,
} from '../records.ts';
import { originRecord } from './origin-text.ts';

// What SQLite returns, by the names of the columns, and the records made of it.

type Bytes = Uint8Array<ArrayBuffer>;

/** An application joined with one of its secrets; with none, the secret's columns are null. */
export type ApplicationRow = {
  id: Bytes;
  name: string;
  disabled: number;
  created_at: number;
  secret_id: Bytes | null;
  hash: Bytes;
  hint: string;
  secret_created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
};

export type PendingRow = {
  application_id: Bytes;
  scope: string;
  account: string;
  code_hash: Bytes;
  code_expires_at: number;
};

/** Of a grant whose ids are known. Each would be a buffer to be made: 0.4 of a look's 8 µs for one. */
export type GrantRow = {
  scope: string;
  account: string;
  created_at: number;
  revoked_at: number | null;
};

export type ListedRow = GrantRow & { id: Bytes; application_id: Bytes };

/** A grant with all its marks; where each came from is an origin's text. */
export type HistoryRow = {
  id: Bytes;
  application_id: Bytes;
  account_id: Bytes;
  issued_by: string | null;
  created_at: number | null;
  exchanged_by: string | null;
  recoveries: number;
  recovered_at: number | null;
  recovered_by: string | null;
  first_used_at: number | null;
  first_used_by: string | null;
  revoked_at: number | null;
  revoked_by: string | null;
};

/** Consecutive rows of the same application become one record; the order stays. */
export function applicationRecords(rows: ApplicationRow[]): ApplicationRecord[] {
  const records: ApplicationRecord[] = [];
  let last: ApplicationRecord | undefined;
  for (const row of rows) {
    const id = uuidFromBytes(row.id);
    if (last?.id !== id) {
      const { name, disabled, created_at } = row;
      last = { id, name, disabled: disabled === 1, created_at, secrets: [] };
      records.push(last);
    }
    if (row.secret_id) last.secrets.push(secretRecord(row, row.secret_id));
  }
  return records;
}

function secretRecord(row: ApplicationRow, id: Bytes): SecretRecord {
  return {
    id: uuidFromBytes(id),
    hash: row.hash,
    hint: row.hint,
    created_at: row.secret_created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
  };
}

/** The JSON of an account: exactly the members of the record, whatever else the object has. */
export function accountText(account: AccountRecord): string {
  const { id, username, display_name, twitter, verified, supporter } = account;
  return JSON.stringify({ id, username, display_name, twitter, verified, supporter });
}

export function accountRecord(text: string): AccountRecord {
  return JSON.parse(text);
}

export function pendingRecord(grant_id: string, row: PendingRow): PendingRecord {
  return {
    grant_id,
    application_id: uuidFromBytes(row.application_id),
    scope: row.scope,
    account: accountRecord(row.account),
    code_hash: row.code_hash,
    code_expires_at: row.code_expires_at,
  };
}

type GrantIds = Pick<GrantRecord, 'grant_id' | 'application_id'>;

export function grantRecord(ids: GrantIds, row: GrantRow): GrantRecord {
  return { ...withoutAccount(ids, row), account: accountRecord(row.account) };
}

export function withoutAccount(
  ids: GrantIds,
  row: Omit<GrantRow, 'account'>,
): GrantAuthentication['grant'] {
  return {
    grant_id: ids.grant_id,
    application_id: ids.application_id,
    scope: row.scope,
    created_at: row.created_at,
    revoked_at: row.revoked_at,
  };
}

export function listedGrant(row: ListedRow): GrantRecord {
  const [grant_id, application_id] = [uuidFromBytes(row.id), uuidFromBytes(row.application_id)];
  return grantRecord({ grant_id, application_id }, row);
}

export function grantHistory(row: HistoryRow): GrantHistory {
  return {
    grant_id: uuidFromBytes(row.id),
    application_id: uuidFromBytes(row.application_id),
    account_id: uuidFromBytes(row.account_id),
    issued_by: originRecord(row.issued_by),
    created_at: row.created_at,
    exchanged_by: originRecord(row.exchanged_by),
    recoveries: row.recoveries,
    recovered_at: row.recovered_at,
    recovered_by: originRecord(row.recovered_by),
    first_used_at: row.first_used_at,
    first_used_by: originRecord(row.first_used_by),
    revoked_at: row.revoked_at,
    revoked_by: originRecord(row.revoked_by),
  };
}
