import { isDeepStrictEqual } from 'node:util';
import type { Actor, Initiator } from '@latchkey/domain/initiator';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { firstGenerations } from '@latchkey/store/generations';
import type {
  AccountRecord,
  ApplicationAuthentication,
  ApplicationRecord,
  CodeBinding,
  CurrentAccount,
  Generations,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  PendingRecord,
  StoredReason,
} from '@latchkey/store/records';
import type { ListRange, Parties } from '@latchkey/store/store';

type Bytes = Uint8Array<ArrayBuffer>;

export type AuthenticatingRow = {
  id: Bytes;
  name: string;
  disabled: number;
  created_at: number;
  redirect_uris: string;
  scopes: string | null;
  default_scopes: string | null;
  public: number;
  resource_server: number;
  challenge_required: number;
  idle_days: number | null;
  grants_per_account: number | null;
  enabled_at: number | null;
  document: string | null;
  homepage_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  generations: string | null;
  secret_id: Bytes | null;
  hash: Bytes;
  hint: string;
  secret_created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
};

export type ApplicationRow = AuthenticatingRow & { logo_uri: string | null };

export type BindingRow = {
  redirect_uri: string | null;
  redirect_uri_given: number;
  code_challenge: string | null;
  resource: string | null;
  link_id: Bytes | null;
};

export type PendingRow = BindingRow & {
  application_id: Bytes;
  generation: number;
  scope: string;
  account: string;
  code_hash: Bytes;
  code_expires_at: number;
};

/** Without the ids, which the caller knows: reading one creates a buffer, 0.4 µs of the 8 µs. */
export type GrantRow = {
  resource: string | null;
  scope: string;
  account: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
};

export type ListedRow = GrantRow & { id: Bytes; application_id: Bytes };

export type HistoryRow = {
  id: Bytes;
  application_id: Bytes;
  account_id: Bytes | null;
  issued_by: string | null;
  created_at: number | null;
  redeemed_by: string | null;
  recoveries: number;
  recovered_at: number | null;
  recovered_by: string | null;
  first_used_at: number | null;
  first_used_by: string | null;
  revoked_at: number | null;
  revoked_by: string | null;
  revoked_reason: StoredReason | null;
};

/** @param rows - one for each secret of an application, and one for an application without any */
export function withSecrets<
  Row extends AuthenticatingRow,
  Application extends ApplicationAuthentication,
>(rows: Row[], recordOf: (id: string, row: Row) => Application): Application[] {
  const records: Application[] = [];
  let last: Application | undefined;
  for (const row of rows) {
    const id = uuidFromBytes(row.id);
    if (last?.id !== id) {
      last = recordOf(id, row);
      records.push(last);
    }
    if (row.secret_id !== null) {
      last.secrets.push({
        id: uuidFromBytes(row.secret_id),
        hash: row.hash,
        hint: row.hint,
        created_at: row.secret_created_at,
        expires_at: row.expires_at,
        last_used_at: row.last_used_at,
      });
    }
  }
  return records;
}

export function applicationRecord(id: string, row: ApplicationRow): ApplicationRecord {
  return { ...applicationAuthentication(id, row), logo_uri: row.logo_uri };
}

export function applicationAuthentication(
  id: string,
  row: AuthenticatingRow,
): ApplicationAuthentication {
  return {
    id,
    name: row.name,
    disabled: row.disabled === 1,
    created_at: row.created_at,
    secrets: [],
    redirect_uris: JSON.parse(row.redirect_uris),
    scopes: row.scopes === null ? null : JSON.parse(row.scopes),
    default_scopes: row.default_scopes === null ? null : JSON.parse(row.default_scopes),
    document: row.document === null ? null : JSON.parse(row.document),
    homepage_uri: row.homepage_uri,
    policy_uri: row.policy_uri,
    tos_uri: row.tos_uri,
    public: row.public === 1,
    resource_server: row.resource_server === 1,
    challenge_required: row.challenge_required === 1,
    idle_days: row.idle_days,
    grants_per_account: row.grants_per_account,
    enabled_at: row.enabled_at,
    generations: row.generations === null ? firstGenerations : JSON.parse(row.generations),
  };
}

/** Null for nearly every application, so that reading one parses nothing. */
export function generationsText(generations: Generations): string | null {
  return isDeepStrictEqual(generations, firstGenerations) ? null : JSON.stringify(generations);
}

export function accountText({ external_id, ...account }: CurrentAccount): string {
  return JSON.stringify({ ...snapshotOf(account), external_id });
}

export function snapshotText(account: AccountRecord): string {
  return JSON.stringify(snapshotOf(account));
}

function snapshotOf(account: AccountRecord): AccountRecord {
  const { id, username, display_name, twitter, verified, supporter } = account;
  return { id, username, display_name, twitter, verified, supporter };
}

export function pendingRecord(grant_id: string, row: PendingRow): PendingRecord {
  return {
    grant_id,
    application_id: uuidFromBytes(row.application_id),
    scope: row.scope,
    generation: row.generation,
    account: JSON.parse(row.account),
    code_hash: row.code_hash,
    code_expires_at: row.code_expires_at,
    ...binding(row),
  };
}

export function binding(row: BindingRow): CodeBinding {
  return {
    redirect_uri: row.redirect_uri,
    redirect_uri_given: row.redirect_uri_given === 1,
    code_challenge: row.code_challenge,
    resource: row.resource,
    link_id: idOrNull(row.link_id),
  };
}

export function bindingColumns(bound: CodeBinding) {
  return {
    redirect_uri: bound.redirect_uri,
    redirect_uri_given: Number(bound.redirect_uri_given),
    code_challenge: bound.code_challenge,
    resource: bound.resource,
    link_id: bytesOrNull(bound.link_id),
  };
}

type GrantIds = Pick<GrantRecord, 'grant_id' | 'application_id'>;

export function grantRecord(ids: GrantIds, row: GrantRow): GrantRecord {
  return { ...withoutAccount(ids, row), account: JSON.parse(row.account) };
}

export function withoutAccount(
  ids: GrantIds,
  row: Omit<GrantRow, 'account'>,
): GrantAuthentication['grant'] {
  return {
    grant_id: ids.grant_id,
    application_id: ids.application_id,
    resource: row.resource,
    scope: row.scope,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
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
    account_id: idOrNull(row.account_id),
    issued_by: initiatorRecord(row.issued_by),
    created_at: row.created_at,
    redeemed_by: initiatorRecord(row.redeemed_by),
    recoveries: row.recoveries,
    recovered_at: row.recovered_at,
    recovered_by: initiatorRecord(row.recovered_by),
    first_used_at: row.first_used_at,
    first_used_by: initiatorRecord(row.first_used_by),
    revoked_at: row.revoked_at,
    revoked_by: initiatorRecord(row.revoked_by),
    revoked_reason: row.revoked_reason,
  };
}

export const bytesOrNull = (id: string | null) => (id === null ? null : uuidToBytes(id));
export const idOrNull = (bytes: Uint8Array | null) =>
  bytes === null ? null : uuidFromBytes(bytes);

// Like `application ~AZOq…AAQ AZOq…AAg`: a revoked grant has 650 bytes, 1,000 with JSON.

/** No other request id contains it. */
const SHORTENED = '~';
/** No shortened id contains them. */
const OS_USER = '@';
const KEY = '*';

// A caller's own request id may be an upper-case UUID, which would come back in lower case.
const LOWER_CASE_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function initiatorText(initiator: Initiator): string;
export function initiatorText(initiator: Initiator | null): string | null;
export function initiatorText(initiator: Initiator | null): string | null {
  if (initiator === null) return null;
  const { by, request_id, secret_id, key_id, os_user } = initiator;
  const request = LOWER_CASE_UUID.test(request_id) ? SHORTENED + shorten(request_id) : request_id;
  let text = `${by} ${request}`;
  if (secret_id !== null) text += ` ${shorten(secret_id)}`;
  if (key_id !== undefined) text += ` ${KEY}${shorten(key_id)}`;
  if (os_user !== undefined) text += ` ${OS_USER}${encodeURIComponent(os_user)}`;
  return text;
}

export function initiatorRecord(text: string): Initiator;
export function initiatorRecord(text: string | null): Initiator | null;
export function initiatorRecord(text: string | null): Initiator | null {
  if (text === null) return null;
  const [by, request = '', ...rest] = text.split(' ');
  const marked = (mark: string) => rest.find((word) => word.startsWith(mark))?.slice(mark.length);
  const secret = rest.find((word) => !word.startsWith(OS_USER) && !word.startsWith(KEY));
  const [key, user] = [marked(KEY), marked(OS_USER)];
  return {
    request_id: request.startsWith(SHORTENED) ? lengthen(request.slice(1)) : request,
    by: by as Actor,
    secret_id: secret === undefined ? null : lengthen(secret),
    ...(key !== undefined && { key_id: lengthen(key) }),
    ...(user !== undefined && { os_user: decodeURIComponent(user) }),
  };
}

const shorten = (uuid: string) => Buffer.from(uuidToBytes(uuid)).toString('base64url');
const lengthen = (text: string) => uuidFromBytes(Buffer.from(text, 'base64url'));

// Sorts after every id. Without a bound, SQLite does not find the start of a list by the index.
const AFTER_ALL_IDS = new Uint8Array(17).fill(0xff);

export function rangeParameters({ limit, before }: ListRange) {
  return { limit, before: before === null ? AFTER_ALL_IDS : uuidToBytes(before) };
}

/** A statement has the parameters of these alone. */
export function partyColumns({ account_id, application_id }: Parties) {
  return {
    ...(account_id !== undefined && { account_id: uuidToBytes(account_id) }),
    ...(application_id !== undefined && { application_id: uuidToBytes(application_id) }),
  };
}
