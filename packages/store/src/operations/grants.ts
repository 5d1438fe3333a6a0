import type { Initiator } from '@latchkey/domain/initiator';
import { type Choice, uuidV7Time } from '@latchkey/schema';
import type { Adapter } from '../adapter.ts';
import {
  either,
  first,
  type Given,
  type Givens,
  greatest,
  isSet,
  lessThan,
  moreThan,
  plus,
  when,
} from '../condition.ts';
import type { RecordOf } from '../kind.ts';
import { accounts, applications, grants as kind } from '../kinds.ts';
import type {
  AccountRecord,
  ConnectedGrant,
  ConnectionRecord,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  ListedHistory,
  RevokedRecord,
} from '../records.ts';
import type { OfApplication, Recovery, Revocation, Store } from '../store.ts';
import { revoked } from './revoked.ts';

type Grants = Pick<
  Store,
  | 'authenticateGrant'
  | 'noteUse'
  | 'revokeGrant'
  | 'revokeActive'
  | 'recoverGrant'
  | 'listGrants'
  | 'listConnections'
  | 'listActiveGrants'
  | 'findGrantHistory'
  | 'listGrantHistories'
  | 'newestGrantTime'
>;

type Stored = RecordOf<typeof kind>;

const USED = [
  'application_id',
  'resource',
  'scope',
  'choice',
  'created_at',
  'last_used_at',
  'revoked_at',
] as const;
const CONNECTED = ['id', ...USED] as const;
const GRANT = [...CONNECTED, 'account'] as const;
const REVOKED = ['id', 'application_id', 'created_at', 'revoked_at'] as const;
const AUTHENTICATING = [...USED, 'secret_hash', 'first_used_at'] as const;
const HISTORY = [
  'id',
  'application_id',
  'account_id',
  'issued_by',
  'created_at',
  'redeemed_by',
  'recoveries',
  'recovered_at',
  'recovered_by',
  'first_used_at',
  'first_used_by',
  'revoked_at',
  'revoked_by',
  'revoked_reason',
] as const;

const active = { revoked_at: null, created_at: isSet } as const;

/** The older part of a list. */
const olderThan = (before: Given<string | null>) => when(before, { id: lessThan(before) });
const newestFirst = { by: ['id'], descending: true } as const;

const grant_id = (input: { grant_id: string }) => input.grant_id;

interface Asked {
  before: string | null;
}

type Use = Parameters<Store['noteUse']>[0];

interface RevokedActive {
  account_id?: string | undefined;
  application_id?: string | undefined;
  now: number;
  initiator: Initiator;
}

export function grants(db: Adapter): Grants {
  const joins = {
    application: {
      kind: applications,
      by: 'application_id',
      fields: ['deleted_at', 'disabled', 'public', 'document', 'idle_days', 'enabled_at'],
    },
    account: { kind: accounts, by: 'account_id', fields: ['account', 'external_id', 'erased_at'] },
  };
  const ofId = ({ grant_id }: Givens<{ grant_id: string }>) => ({
    id: grant_id,
    created_at: isSet,
  });
  const authenticate = db.joined(
    kind,
    ofId,
    AUTHENTICATING,
    joins,
    (found: Authenticating, { grant_id }) =>
      authenticationOf(grant_id, found, found.account?.account ?? null),
  );
  // The snapshot is read only for callers that show it.
  const authenticateWithSnapshot = db.joined(
    kind,
    ofId,
    [...AUTHENTICATING, 'account'],
    { application: joins.application, current: joins.account },
    ({ account, current, ...found }: WithSnapshot, { grant_id }) =>
      authenticationOf(grant_id, { ...found, account: current }, account),
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

  const owned = ({ grant_id, application_id }: Givens<Revocation>) => [
    { id: grant_id },
    when(application_id, { application_id }),
  ];
  const unused = ({ unused_before }: Givens<Revocation>) =>
    when(unused_before, [
      { created_at: lessThan(unused_before) },
      either({ last_used_at: null }, { last_used_at: lessThan(unused_before) }),
    ]);
  const revoke = db.change(
    kind,
    (grant: Givens<Revocation>) => ({
      where: [owned(grant), active, unused(grant)],
      set: revoked({
        revoked_at: grant.now,
        revoked_by: grant.initiator,
        revoked_reason: grant.reason,
      }),
    }),
    REVOKED,
    revokedRecord,
    { grant_id, ends: true },
  );
  const findRevoked = db.find(
    kind,
    (grant: Givens<Revocation>) => [owned(grant), { revoked_at: isSet }, unused(grant)],
    REVOKED,
    revokedRecord,
  );
  const endActive = ({ now, initiator }: Givens<RevokedActive>) =>
    revoked({ revoked_at: now, revoked_by: initiator });
  const revokeOfAccount = db.changeSome(
    kind,
    (of: Givens<RevokedActive>) => ({
      where: [
        { account_id: of.account_id, ...active },
        when(of.application_id, { application_id: of.application_id }),
      ],
      set: endActive(of),
    }),
    REVOKED,
    revokedRecord,
    { index: 'unrevoked_by_account', ends: true },
  );
  const revokeOfApplication = db.changeSome(
    kind,
    (of: Givens<RevokedActive>) => ({
      where: { application_id: of.application_id, ...active },
      set: endActive(of),
    }),
    REVOKED,
    revokedRecord,
    { index: 'unrevoked_by_application', ends: true },
  );

  // What REVOKED_GRANT_DAYS reduced has no account.
  const ofAccount = (of: Givens<Asked & { account_id: string }>) => [
    { account_id: of.account_id, created_at: isSet },
    olderThan(of.before),
  ];
  const listOfAccount = db.list(kind, ofAccount, GRANT, grantRecord, {
    index: 'grants_by_account',
    order: newestFirst,
  });
  const listOfApplication = db.list(
    kind,
    (of: Givens<Asked & { application_id: string }>) => [
      { application_id: of.application_id, created_at: isSet, account_id: isSet },
      olderThan(of.before),
    ],
    GRANT,
    grantRecord,
    { index: 'grants_by_application', order: newestFirst },
  );
  const listHistories = db.list(
    kind,
    ofAccount,
    [...HISTORY, 'link_id'],
    historyOf<ListedHistory>,
    { index: 'grants_by_account', order: newestFirst },
  );
  const findHistory = db.find(
    kind,
    (grant: Givens<{ id: string }>) => [
      { id: grant.id },
      either({ code_hash: isSet }, { created_at: isSet }),
    ],
    HISTORY,
    historyOf<GrantHistory>,
  );
  const listNewest = db.list(
    kind,
    () => ({}),
    ['id'],
    ({ id }) => id,
    { order: newestFirst },
  );

  const listAllActive = db.list(
    kind,
    ({ account_id }: Givens<{ account_id: string }>) => ({ account_id, ...active }),
    CONNECTED,
    connectedGrant,
    { index: 'unrevoked_by_account', isDecisive: true },
  );
  const listActiveOfConnection = db.list(
    kind,
    (of: Givens<Asked & { account_id: string; application_id: string }>) => [
      { account_id: of.account_id, application_id: of.application_id, ...active },
      olderThan(of.before),
    ],
    CONNECTED,
    connectedGrant,
    { index: 'unrevoked_by_account', order: newestFirst, isDecisive: true },
  );
  const listActiveOfApplication = db.list(
    kind,
    (of: Givens<Asked & OfApplication>) => [
      { application_id: of.application_id, ...active },
      olderThan(of.before),
    ],
    CONNECTED,
    connectedGrant,
    { index: 'unrevoked_by_application', order: newestFirst, isDecisive: true },
  );

  return {
    authenticateGrant: (grant_id, { currentAccount, mayBeStale }) =>
      (currentAccount ? authenticate : authenticateWithSnapshot)({ grant_id, mayBeStale }),

    async noteUse(use) {
      return (await note(use)) ?? false;
    },

    async revokeGrant(revocation) {
      // For null too: the revocation of another call may not be durable yet.
      const ended = await revoke(revocation);
      const found = ended ?? (await findRevoked(revocation));
      return revocation.onlyActive ? ended : found;
    },

    revokeActive: ({ account_id, application_id, ...how }) =>
      account_id === undefined
        ? revokeOfApplication({ application_id, ...how })
        : revokeOfAccount({ account_id, application_id, ...how }),

    recoverGrant: db.change(
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
      grantRecord,
      { grant_id },
    ),

    listGrants: (filter, range) =>
      'account_id' in filter
        ? listOfAccount({ ...filter, ...range })
        : listOfApplication({ ...filter, ...range }),

    async listConnections(account_id) {
      return connectionsOf(await listAllActive({ account_id }));
    },

    listActiveGrants: ({ account_id, application_id }, range) =>
      account_id === undefined
        ? listActiveOfApplication({ application_id, ...range })
        : listActiveOfConnection({ account_id, application_id, ...range }),

    findGrantHistory: (id) => findHistory({ id }),

    listGrantHistories: (account_id, range) => listHistories({ account_id, ...range }),

    async newestGrantTime() {
      const [newest] = await listNewest({ limit: 1 });
      return newest === undefined ? null : uuidV7Time(newest);
    },
  };
}

interface Joined {
  application: Pick<
    RecordOf<typeof applications>,
    'deleted_at' | 'disabled' | 'public' | 'document' | 'idle_days' | 'enabled_at'
  > | null;
}

type OfNow = Pick<RecordOf<typeof accounts>, 'account' | 'external_id' | 'erased_at'> | null;
type Authenticating = Pick<Stored, (typeof AUTHENTICATING)[number]> & Joined & { account: OfNow };
type WithSnapshot = Pick<Stored, (typeof AUTHENTICATING)[number] | 'account'> &
  Joined & { current: OfNow };

function authenticationOf(
  grant_id: string,
  found: Authenticating,
  account: AccountRecord | null,
): GrantAuthentication {
  const { account: ofNow } = found;
  const application = found.application?.deleted_at === null ? found.application : null;
  // An erasure may not have come to this grant yet. Once refused, a grant must stay refused.
  const revoked_at = found.revoked_at ?? ofNow?.erased_at ?? null;
  return {
    grant: {
      grant_id,
      application_id: found.application_id,
      resource: found.resource,
      scope: found.scope ?? '',
      choice: found.choice,
      created_at: found.created_at as number,
      last_used_at: found.last_used_at,
      revoked_at,
    },
    secret_hash: revoked_at === null ? found.secret_hash : null,
    first_used_at: found.first_used_at,
    application_disabled: application?.disabled ?? null,
    application_public: application?.public ?? null,
    document_uri: application?.document?.uri ?? null,
    idle_days: application?.idle_days ?? null,
    enabled_at: application?.enabled_at ?? null,
    account,
    external_id: ofNow?.external_id ?? null,
  };
}

function connectedGrant({
  id,
  ...grant
}: Pick<Stored, (typeof CONNECTED)[number]>): ConnectedGrant {
  return { grant_id: id, ...grant } as ConnectedGrant;
}

function grantRecord({ id, ...grant }: Pick<Stored, (typeof GRANT)[number]>): GrantRecord {
  return { grant_id: id, ...grant } as GrantRecord;
}

function revokedRecord({ id, ...grant }: Pick<Stored, (typeof REVOKED)[number]>): RevokedRecord {
  return { grant_id: id, ...grant } as RevokedRecord;
}

function historyOf<History>({ id, ...history }: Pick<Stored, (typeof HISTORY)[number]>): History {
  return { grant_id: id, ...history } as History;
}

function connectionsOf(grants: readonly ConnectedGrant[]): ConnectionRecord[] {
  const byApplication = Map.groupBy(grants, ({ application_id }) => application_id);
  return [...byApplication].map(([application_id, of]) => {
    const used = of.flatMap(({ last_used_at }) => last_used_at ?? []);
    return {
      application_id,
      scopes: [...new Set(of.map(({ scope }) => scope))],
      resources: [...new Set(of.flatMap(({ resource }) => resource ?? []))],
      choices: distinct(of.flatMap(({ choice }) => choice ?? [])),
      connected_at: Math.min(...of.map(({ created_at }) => created_at)),
      last_used_at: used.length === 0 ? null : Math.max(...used),
    };
  });
}

const distinct = (choices: readonly Choice[]): Choice[] => [
  ...new Map(choices.map((choice) => [`${choice.id} ${choice.label}`, choice])).values(),
];
