import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { uuidFromBytes, uuidToBytes, uuidV7Time } from '@latchkey/schema';
import type {
  ConnectedGrant,
  ConnectionRecord,
  CredentialHash,
  CurrentAccount,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  ListedHistory,
  RevokedRecord,
} from '@latchkey/store/records';
import type {
  ActiveRevocation,
  Change,
  ListRange,
  OfApplication,
  Recovery,
  Revocation,
} from '@latchkey/store/store';
import {
  bytesOrNull,
  type GrantRow,
  grantHistory,
  grantRecord,
  type HistoryRow,
  idOrNull,
  initiatorText,
  type ListedRow,
  listedGrant,
  partyColumns,
  rangeParameters,
  withoutAccount,
} from './rows.ts';

type FoundRow = GrantRow & { application_id: Uint8Array };

type RevokedRow = { application_id: Uint8Array; created_at: number; revoked_at: number };

type ConnectionRow = {
  application_id: Uint8Array;
  scopes: string;
  resources: string;
  connected_at: number;
  last_used_at: number | null;
};

type ConnectedRow = Omit<ListedRow, 'account'>;

// At most about 5 ms, like a batch of writes.
const BATCH_SIZE = 256;

type AuthenticationRow = Omit<FoundRow, 'account'> & {
  account: string | null;
  account_at_issue: string | null;
  secret_hash: Uint8Array | null;
  first_used_at: number | null;
  application_disabled: number | null;
  application_public: number | null;
  document: string | null;
  idle_days: number | null;
  enabled_at: number | null;
};

const GRANT = 'resource, scope, account, created_at, last_used_at, revoked_at';
const HISTORY = `id, application_id, account_id, issued_by, created_at, redeemed_by, recoveries,
  recovered_at, recovered_by, first_used_at, first_used_by, revoked_at, revoked_by, revoked_reason`;

export function prepareGrants(database: DatabaseSync) {
  const revoke = database.prepare(`
    UPDATE grants SET revoked_at = coalesce(revoked_at, ?), secret_hash = NULL,
      revoked_by = CASE WHEN revoked_at IS NULL THEN ? ELSE revoked_by END,
      revoked_reason = CASE WHEN revoked_at IS NULL THEN ? ELSE revoked_reason END
    WHERE id = ? AND created_at IS NOT NULL AND application_id = coalesce(?, application_id)
      AND (revoked_at IS NULL OR ?) AND max(created_at, coalesce(last_used_at, 0)) < ?
    RETURNING application_id, created_at, revoked_at`);
  const recover = database.prepare(`
    UPDATE grants SET secret_hash = :secret_hash,
      recoveries = recoveries + 1, recovered_at = :now, recovered_by = :initiator
    WHERE id = :id AND application_id = :application_id AND created_at > :redeemed_after
      AND first_used_at IS NULL AND revoked_at IS NULL
    RETURNING ${GRANT}`);
  const authenticate = database.prepare(`
    SELECT g.application_id, g.resource, coalesce(g.scope, '') AS scope, g.created_at, g.last_used_at,
      coalesce(g.revoked_at, e.erased_at) AS revoked_at, g.first_used_at,
      CASE WHEN e.erased_at IS NULL THEN g.secret_hash END AS secret_hash,
      a.disabled AS application_disabled, a.public AS application_public, a.document, a.idle_days,
      a.enabled_at,
      CASE WHEN ? THEN NULL ELSE g.account END AS account_at_issue,
      (SELECT account FROM accounts WHERE id = g.account_id) AS account
    FROM grants g LEFT JOIN applications a ON a.id = g.application_id
      LEFT JOIN erasures e ON e.id = g.account_id
    WHERE g.id = ? AND g.created_at IS NOT NULL`);
  const noteUse = database.prepare(`
    UPDATE grants SET last_used_at = max(coalesce(last_used_at, :now), :now),
      first_used_at = coalesce(first_used_at, :now),
      first_used_by = coalesce(first_used_by, :initiator)
    WHERE id = :id AND secret_hash = :secret_hash`);
  const history = database.prepare(`SELECT ${HISTORY} FROM grants WHERE id = :id`);
  const listHistories = database.prepare(`
    SELECT ${HISTORY}, link_id FROM grants
    WHERE account_id = :account_id AND created_at IS NOT NULL AND id < :before
    ORDER BY id DESC LIMIT :limit`);
  const newest = database.prepare('SELECT id FROM grants ORDER BY id DESC LIMIT 1');
  const listBy = (column: 'account_id' | 'application_id') =>
    database.prepare(`
      SELECT id, application_id, ${GRANT} FROM grants
      WHERE ${column} = :filter AND created_at IS NOT NULL AND account_id IS NOT NULL
        AND id < :before
      ORDER BY id DESC LIMIT :limit`);
  const listByAccount = listBy('account_id');
  const listByApplication = listBy('application_id');
  const ACTIVE = 'revoked_at IS NULL AND created_at IS NOT NULL';
  const OF_ACCOUNT = `account_id = :account_id AND ${ACTIVE}`;
  const listConnections = database.prepare(`
    SELECT application_id, json_group_array(DISTINCT scope) AS scopes,
      json_group_array(DISTINCT resource) FILTER (WHERE resource IS NOT NULL) AS resources,
      min(created_at) AS connected_at, max(last_used_at) AS last_used_at
    FROM grants
    WHERE ${OF_ACCOUNT}
    GROUP BY application_id`);
  const OF_APPLICATION = `application_id = :application_id AND ${ACTIVE}`;
  const CONNECTED = `account_id = :account_id AND ${OF_APPLICATION}`;
  const listActive = (which: string) =>
    database.prepare(`
      SELECT id, application_id, resource, scope, created_at, last_used_at, revoked_at FROM grants
      WHERE ${which} AND id < :before ORDER BY id DESC LIMIT :limit`);
  const listActiveOfConnection = listActive(CONNECTED);
  const listActiveOfApplication = listActive(OF_APPLICATION);
  const revokeActive = (which: string) =>
    database.prepare(`
      UPDATE grants SET revoked_at = :now, revoked_by = :initiator, secret_hash = NULL
      WHERE id IN (SELECT id FROM grants WHERE ${which}
        ORDER BY application_id DESC, id DESC LIMIT ${BATCH_SIZE})
      RETURNING id, application_id, created_at, revoked_at`);
  const revokeActiveOfConnection = revokeActive(CONNECTED);
  const revokeActiveOfApplication = revokeActive(OF_APPLICATION);
  const revokeActiveOfAccount = revokeActive(OF_ACCOUNT);

  return {
    findGrantHistory(grant_id: string): GrantHistory | null {
      const row = history.get({ id: uuidToBytes(grant_id) }) as HistoryRow | undefined;
      return row ? grantHistory(row) : null;
    },

    listGrantHistories(account_id: string, range: ListRange): ListedHistory[] {
      const rows = listHistories.all({
        account_id: uuidToBytes(account_id),
        ...rangeParameters(range),
      }) as (HistoryRow & { link_id: Uint8Array | null })[];
      return rows.map((row) => ({ ...grantHistory(row), link_id: idOrNull(row.link_id) }));
    },

    newestGrantTime(): Milliseconds | null {
      const row = newest.get() as { id: Uint8Array } | undefined;
      return row ? uuidV7Time(uuidFromBytes(row.id)) : null;
    },

    revokeGrant(revocation: Revocation): RevokedRecord | null {
      const { grant_id, application_id, onlyActive = false, now } = revocation;
      const { reason = null, unused_before = Number.MAX_SAFE_INTEGER } = revocation;
      const row = revoke.get(
        now,
        initiatorText(revocation.initiator),
        reason,
        uuidToBytes(grant_id),
        bytesOrNull(application_id),
        Number(!onlyActive),
        unused_before,
      ) as RevokedRow | undefined;
      return row ? revokedRecord(grant_id, row) : null;
    },

    recoverGrant(recovery: Recovery): GrantRecord | null {
      const { secret_hash, redeemed_after, now } = recovery;
      const row = recover.get({
        id: uuidToBytes(recovery.grant_id),
        application_id: uuidToBytes(recovery.application_id),
        ...{ secret_hash, redeemed_after, now },
        initiator: initiatorText(recovery.initiator),
      }) as GrantRow | undefined;
      return row ? grantRecord(recovery, row) : null;
    },

    authenticateGrant(
      grant_id: string,
      options: { currentAccount: boolean },
    ): GrantAuthentication | null {
      const row = authenticate.get(Number(options.currentAccount), uuidToBytes(grant_id)) as
        | AuthenticationRow
        | undefined;
      if (!row) return null;
      const account = parsed(row.account);
      return {
        grant: withoutAccount(idsOf(grant_id, row), row),
        secret_hash: row.secret_hash,
        first_used_at: row.first_used_at,
        application_disabled:
          row.application_disabled === null ? null : row.application_disabled === 1,
        application_public: row.application_public === null ? null : row.application_public === 1,
        document_uri: row.document === null ? null : JSON.parse(row.document).uri,
        idle_days: row.idle_days,
        enabled_at: row.enabled_at,
        account: options.currentAccount ? account : parsed(row.account_at_issue),
        external_id: account?.external_id ?? null,
      };
    },

    noteUse(
      use: Change & {
        grant_id: string;
        secret_hash: CredentialHash;
        now: Milliseconds;
      },
    ): boolean {
      const { secret_hash, now } = use;
      const id = uuidToBytes(use.grant_id);
      const initiator = initiatorText(use.initiator);
      return noteUse.run({ id, secret_hash, now, initiator }).changes === 1;
    },

    listGrants(
      filter: { account_id: string } | { application_id: string },
      range: ListRange,
    ): GrantRecord[] {
      const [list, id] =
        'account_id' in filter
          ? [listByAccount, filter.account_id]
          : [listByApplication, filter.application_id];
      const rows = list.all({ filter: uuidToBytes(id), ...rangeParameters(range) }) as ListedRow[];
      return rows.map(listedGrant);
    },

    listConnections(account_id: string): ConnectionRecord[] {
      const rows = listConnections.all({ account_id: uuidToBytes(account_id) }) as ConnectionRow[];
      return rows.map(({ application_id, scopes, resources, ...times }) => ({
        application_id: uuidFromBytes(application_id),
        scopes: JSON.parse(scopes),
        resources: JSON.parse(resources),
        ...times,
      }));
    },

    listActiveGrants(filter: OfApplication, range: ListRange): ConnectedGrant[] {
      const list =
        filter.account_id === undefined ? listActiveOfApplication : listActiveOfConnection;
      const rows = list.all({
        ...partyColumns(filter),
        ...rangeParameters(range),
      }) as ConnectedRow[];
      return rows.map((row) => withoutAccount(idsOf(uuidFromBytes(row.id), row), row));
    },

    revokeActive({ now, initiator, ...parties }: ActiveRevocation): RevokedRecord[] | null {
      const { account_id, application_id } = parties;
      const revoke =
        account_id === undefined
          ? revokeActiveOfApplication
          : application_id === undefined
            ? revokeActiveOfAccount
            : revokeActiveOfConnection;
      const rows = revoke.all({
        ...partyColumns(parties),
        ...{ now, initiator: initiatorText(initiator) },
      }) as (RevokedRow & { id: Uint8Array })[];
      if (rows.length === 0) return null;
      return rows.map((row) => revokedRecord(uuidFromBytes(row.id), row));
    },
  };
}

const parsed = (account: string | null): CurrentAccount | null =>
  account === null ? null : JSON.parse(account);

function revokedRecord(grant_id: string, row: RevokedRow): RevokedRecord {
  const { created_at, revoked_at } = row;
  return { ...idsOf(grant_id, row), created_at, revoked_at };
}

function idsOf(grant_id: string, row: Pick<FoundRow, 'application_id'>) {
  return { grant_id, application_id: uuidFromBytes(row.application_id) };
}
