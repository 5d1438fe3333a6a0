import type { Milliseconds } from '@latchkey/domain/clock';
import { uuidV7Time } from '@latchkey/schema';
import type { Adapter, Joined } from '../adapter.ts';
import {
  asIs,
  either,
  first,
  type Givens,
  greatest,
  idOf,
  isSet,
  lessThan,
  moreThan,
  oneOf,
  plus,
  when,
} from '../condition.ts';
import { asEnded, NUMBERS } from '../endings.ts';
import {
  type Change,
  type ConnectedRange,
  isUnusedSince,
  type ListRange,
  type OfApplication,
  type ReadOptions,
  type Recovery,
  type Revocation,
} from '../inputs.ts';
import type { RecordOf } from '../kind.ts';
import { accounts, applications, grants as kind } from '../kinds.ts';
import {
  type AccountRecord,
  CONNECTED,
  type ConnectedGrant,
  type ConnectedPage,
  type CredentialHash,
  GRANT,
  type GrantAuthentication,
  type GrantHistory,
  type GrantRecord,
  HISTORY,
  type ListedHistory,
  partOf,
  REVOKED,
  type RevokedRecord,
  USED,
} from '../records.ts';
import { endedNow, isActive, MARKED, MARKS, type MarksInside, UNENDED } from './marks.ts';
import { revoked } from './revoked.ts';
import { newestFirst, olderThan } from './sites.ts';

type Stored = RecordOf<typeof kind>;

const ACTIVE = [...CONNECTED, 'account_id', ...NUMBERS] as const;
const LISTED = [...ACTIVE, 'account'] as const;
const LISTED_HISTORY = [...HISTORY, 'link_id'] as const;
const AUTHENTICATING = [...USED, ...NUMBERS, 'secret_hash', 'first_used_at'] as const;
const APPLICATION_NOW = {
  ...{ kind: applications, by: 'application_id' },
  fields: ['deleted_at', 'disabled', 'public', 'document', 'idle_days', 'enabled_at', 'endings'],
} as const;
const ACCOUNT_NOW = {
  ...{ kind: accounts, by: 'account_id', fields: ['account', 'external_id', 'endings'] },
} as const;

const active = { revoked_at: null, created_at: isSet } as const;

const grant_id = (input: { grant_id: string }) => input.grant_id;

interface OfApplications {
  application_ids: readonly string[];
}

interface Asked {
  before: string | null;
}

export interface Use extends Change {
  grant_id: string;
  secret_hash: CredentialHash;
  now: Milliseconds;
}

export function grants(db: Adapter, { shown, seen }: MarksInside) {
  const ofId = ({ grant_id }: Givens<{ grant_id: string }>) => ({
    id: grant_id,
    created_at: isSet,
  });
  const authenticate = db.joined(
    kind,
    ofId,
    AUTHENTICATING,
    { application: APPLICATION_NOW, account: ACCOUNT_NOW },
    ({ account, ...found }, { grant_id }) =>
      authenticationOf(grant_id, { ...found, current: account }, account?.account ?? null),
  );
  // The snapshot is read only for callers that show it.
  const authenticateWithSnapshot = db.joined(
    kind,
    ofId,
    [...AUTHENTICATING, 'account'],
    { application: APPLICATION_NOW, current: ACCOUNT_NOW },
    (found, { grant_id }) => authenticationOf(grant_id, found),
  );

  const note = db.change(
    kind,
    (use: Givens<Use>) => ({
      where: { id: use.grant_id, secret_hash: use.secret_hash },
      set: {
        last_used_at: greatest(use.now),
        first_used_at: first(use.now),
        first_used_by: first(use.initiator),
      },
    }),
    [],
    () => true,
    { grant_id },
  );

  const byId = ({ grant_id }: Givens<{ grant_id: string }>) => ({ id: grant_id });
  // What REVOKED_GRANT_DAYS reduced has no account.
  const ofAccount = (of: Givens<Asked & { account_id: string }>) => [
    { account_id: of.account_id, created_at: isSet },
    olderThan(of.before),
  ];
  const listOfAccount = db.list(kind, ofAccount, LISTED, asIs, {
    index: 'grants_by_account',
    order: newestFirst,
  });
  const listOfApplication = db.list(
    kind,
    (of: Givens<Asked & { application_id: string }>) => [
      { application_id: of.application_id, created_at: isSet, account_id: isSet },
      olderThan(of.before),
    ],
    LISTED,
    asIs,
    { index: 'grants_by_application', order: newestFirst },
  );
  const listHistories = db.list(kind, ofAccount, [...HISTORY, ...NUMBERS, 'link_id'], asIs, {
    index: 'grants_by_account',
    order: newestFirst,
  });
  const findHistory = db.joined(
    kind,
    byId,
    [...HISTORY, ...NUMBERS, 'code_hash'],
    MARKS,
    (found) => {
      const { code_hash, ...history } = endedNow(found);
      // A code that is not issued yet, or that a mark has ended, is none.
      const isThere = isGrant(history) || (code_hash !== null && history.revoked_at === null);
      return isThere ? historyOf(history) : null;
    },
  );
  const listNewest = db.list(kind, () => ({}), ['id'], idOf, { order: newestFirst });

  // With no other condition, SQL databases read it from the index alone.
  const listConnectedIds = db.list(
    kind,
    (of: Givens<{ account_id: string; after: string | null }>) => [
      { account_id: of.account_id, revoked_at: null },
      when(of.after, { application_id: moreThan(of.after) }),
    ],
    ['application_id'],
    ({ application_id }) => application_id,
    {
      ...{ index: 'unrevoked_by_account', isDecisive: true },
      order: { by: ['application_id', 'id'] },
    },
  );
  const listNames = db.list(
    applications,
    ({ application_ids }: Givens<OfApplications>) => ({
      ...{ id: oneOf(application_ids), deleted_at: null },
    }),
    ['id', 'name', 'document', 'redirect_uris'],
    ({ id, ...named }) => [id, named] as const,
    { isDecisive: true },
  );

  const listActiveOfConnection = db.list(
    kind,
    (of: Givens<Asked & { account_id: string; application_id: string }>) => [
      { account_id: of.account_id, application_id: of.application_id, ...active },
      olderThan(of.before),
    ],
    ACTIVE,
    asIs,
    { index: 'unrevoked_by_account', order: newestFirst, isDecisive: true },
  );
  const listActiveOfApplication = db.list(
    kind,
    (of: Givens<Asked & OfApplication>) => [
      { application_id: of.application_id, ...active },
      olderThan(of.before),
    ],
    ACTIVE,
    asIs,
    { index: 'unrevoked_by_application', order: newestFirst, isDecisive: true },
  );

  async function connectedSome(
    account_id: string,
    { after, limit }: ConnectedRange,
  ): Promise<{ application_ids: string[]; next: string | null }> {
    const listed = await listConnectedIds({ account_id, after, limit });
    const last = listed.length < limit ? undefined : listed.at(-1);
    return { application_ids: [...new Set(listed)], next: last ?? null };
  }

  return {
    connectedSome,

    /**
     * Reads the grant, its application and its account at once. Null if there is no such grant or its
     * code was not redeemed.
     *
     * @param options.currentAccount - true for the current account, false for that at issue
     */
    authenticateGrant: (
      grant_id: string,
      { currentAccount, mayBeStale }: { currentAccount: boolean } & ReadOptions,
    ) => (currentAccount ? authenticate : authenticateWithSnapshot)({ grant_id, mayBeStale }),

    /**
     * Records a use of a grant's secret: as the first one, unless one is recorded already, and as the
     * last one, unless a later one is.
     *
     * @returns whether the grant is active with this secret, and a use at `now` or later is on disk
     */
    async noteUse(use: Use): Promise<boolean> {
      return (await note(use)) ?? false;
    },

    /**
     * Revokes a grant and deletes the hash of its secret. Null if there is no such grant, its code
     * was not redeemed, it belongs to another application, or it was used since `unused_before`. Once
     * this has returned, no process sees the grant as active. Idempotent: a repetition returns the first
     * result, for ever.
     *
     * Of concurrent calls with `onlyActive` exactly one receives the grant; the others receive null.
     */
    revokeGrant: db.sequence(
      (steps) => {
        const end = steps.changeAllowed(
          kind,
          (grant: Givens<Revocation>) => ({
            where: [
              byId(grant),
              active,
              when(grant.application_id, { application_id: grant.application_id }),
              when(grant.unused_before, [
                { created_at: lessThan(grant.unused_before) },
                either({ last_used_at: null }, { last_used_at: lessThan(grant.unused_before) }),
              ]),
            ],
            set: revoked({
              revoked_at: grant.now,
              revoked_by: grant.initiator,
              revoked_reason: grant.reason,
            }),
          }),
          REVOKED,
          UNENDED,
          revokedRecord,
          { grant_id, ends: true },
        );
        const look = steps.joined(
          kind,
          byId,
          ['id', ...MARKED, 'created_at', 'last_used_at'],
          MARKS,
          endedNow,
        );
        return function* (revocation: Revocation) {
          const { application_id, unused_before, onlyActive = false } = revocation;
          const ended = yield* end(revocation);
          if (ended !== null || onlyActive) return ended;
          // An earlier one was faster, and may not be durable yet.
          const found = yield* look(revocation);
          if (found === null || !isGrant(found) || found.revoked_at === null) return null;
          if (application_id !== null && found.application_id !== application_id) return null;
          if (unused_before !== undefined && !isUnusedSince(found, unused_before)) return null;
          return revokedRecord(found);
        };
      },
      { grant_id, ends: true },
    ),

    /**
     * Replaces the secret of an active grant that was never used and was redeemed after
     * `redeemed_after`. Otherwise null, and nothing is changed. Of this and a concurrent
     * `noteUse` with the old secret exactly one succeeds.
     */
    recoverGrant: db.sequence(
      (steps) =>
        steps.changeAllowed(
          kind,
          (grant: Givens<Recovery>) => ({
            where: {
              id: grant.grant_id,
              application_id: grant.application_id,
              created_at: moreThan(grant.redeemed_after),
              first_used_at: null,
              revoked_at: null,
            },
            set: {
              secret_hash: grant.secret_hash,
              recoveries: plus(1),
              recovered_at: grant.now,
              recovered_by: grant.initiator,
            },
          }),
          GRANT,
          UNENDED,
          grantRecord,
          { grant_id },
        ),
      { grant_id },
    ),

    /**
     * The grants of an account or an application, with revoked ones, without pending codes, and
     * without grants of which only a `RevokedRecord` is left.
     */
    async listGrants(
      filter: { account_id: string } | { application_id: string },
      range: ListRange,
    ): Promise<GrantRecord[]> {
      const listed =
        'account_id' in filter
          ? await listOfAccount({ ...filter, ...range })
          : await listOfApplication({ ...filter, ...range });
      return (await shown(listed)).map(grantRecord);
    },

    /**
     * A part of the applications with active grants of an account, and maybe some with pending codes alone. An account
     * may allow any number of strangers' applications.
     */
    async listConnected(account_id: string, range: ConnectedRange): Promise<ConnectedPage> {
      const { application_ids, next } = await connectedSome(account_id, range);
      if (application_ids.length === 0) return { connected: [], next };
      const named = new Map(await listNames({ application_ids }));
      const connected = application_ids.map((application_id) => ({
        ...{ application_id, application: named.get(application_id) ?? null },
      }));
      return { connected, next };
    },

    /** The active grants, newest first. Has every grant that was active before the call began. */
    async listActiveGrants(
      { account_id, application_id }: OfApplication,
      range: ListRange,
    ): Promise<ConnectedGrant[]> {
      const active = await seen(
        (part) =>
          account_id === undefined
            ? listActiveOfApplication({ application_id, ...part })
            : listActiveOfConnection({ account_id, application_id, ...part }),
        isActive,
        range,
      );
      return active.map(connectedGrant);
    },

    /**
     * The history of a grant since the issue of its code; null if there is no record of it. Has every
     * acknowledged change.
     */
    findGrantHistory: (grant_id: string) => findHistory({ grant_id }),

    /** The histories of the grants of `listGrants`. */
    async listGrantHistories(account_id: string, range: ListRange): Promise<ListedHistory[]> {
      const listed = await listHistories({ account_id, ...range });
      return (await shown(listed)).map(listedHistory);
    },

    /** When the newest code was issued, redeemed or not; null if there is none. */
    async newestGrantTime(): Promise<Milliseconds | null> {
      const [newest] = await listNewest({ limit: 1 });
      return newest === undefined ? null : uuidV7Time(newest);
    },
  };
}

/** @param account - in place of that of the issue */
function authenticationOf(
  grant_id: string,
  {
    application: ofApplication,
    current,
    ...found
  }: Pick<Stored, (typeof AUTHENTICATING)[number]> & { account?: AccountRecord | null } & Joined<{
      application: typeof APPLICATION_NOW;
      current: typeof ACCOUNT_NOW;
    }>,
  account?: AccountRecord | null,
): GrantAuthentication {
  const application = ofApplication?.deleted_at === null ? ofApplication : null;
  const grant = asEnded(found, current, ofApplication);
  return {
    grant: {
      grant_id,
      application_id: grant.application_id,
      resource: grant.resource,
      scope: grant.scope ?? '',
      choice: grant.choice,
      created_at: grant.created_at as number,
      last_used_at: grant.last_used_at,
      revoked_at: grant.revoked_at,
    },
    secret_hash: grant.revoked_at === null ? grant.secret_hash : null,
    first_used_at: grant.first_used_at,
    application_disabled: application?.disabled ?? null,
    application_public: application?.public ?? null,
    document_uri: application?.document?.uri ?? null,
    idle_days: application?.idle_days ?? null,
    enabled_at: application?.enabled_at ?? null,
    account: account === undefined ? (grant.account ?? null) : account,
    external_id: current?.external_id ?? null,
  };
}

const isGrant = <G extends Pick<Stored, 'created_at'>>(
  found: G,
): found is G & { created_at: number } => found.created_at !== null;

const connectedGrant = partOf<ConnectedGrant, (typeof CONNECTED)[number]>(CONNECTED);
const grantRecord = partOf<GrantRecord, (typeof GRANT)[number]>(GRANT);
export const revokedRecord = partOf<RevokedRecord, (typeof REVOKED)[number]>(REVOKED);
const historyOf = partOf<GrantHistory, (typeof HISTORY)[number]>(HISTORY);
const listedHistory = partOf<ListedHistory, (typeof LISTED_HISTORY)[number]>(LISTED_HISTORY);
