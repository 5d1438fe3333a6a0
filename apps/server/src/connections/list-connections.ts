import type { Milliseconds } from '../clock.ts';
import { describeTokens } from '../linking/describe-scopes.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord, GrantRecord, ScopeRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface Connection {
  application: ApplicationRecord;
  scopes: ScopeRecord[];
  connected_at: Milliseconds;
  /** Null if no grant was used. */
  last_used_at: Milliseconds | null;
}

export type ConnectedGrant = Pick<GrantRecord, 'grant_id' | 'created_at' | 'scope'>;

export interface ConnectionWithGrants extends Connection {
  grants: ConnectedGrant[];
}

interface Summary extends Pick<Connection, 'connected_at' | 'last_used_at'> {
  tokens: Set<string>;
}

/** `note` gets each active grant, because an account may have far more grants than connections. */
export async function listConnections(
  { store }: Pick<Service, 'store'>,
  account_id: string,
  note: (grant: GrantRecord) => void = () => {},
): Promise<Connection[]> {
  const summaries = new Map<string, Summary>();
  for await (const grant of activeGrants(store, { account_id })) {
    const { application_id, created_at, last_used_at, scope } = grant;
    const summary = summaries.get(application_id) ?? {
      ...{ tokens: new Set<string>(), connected_at: Infinity, last_used_at: null },
    };
    for (const token of scope.split(' ')) summary.tokens.add(token);
    summary.connected_at = Math.min(summary.connected_at, created_at);
    if (last_used_at !== null) {
      summary.last_used_at = Math.max(summary.last_used_at ?? 0, last_used_at);
    }
    summaries.set(application_id, summary);
    note(grant);
  }
  const [described, connected] = await Promise.all([
    store.listScopes(),
    Promise.all(
      [...summaries].map(async ([id, summary]) => ({
        ...summary,
        application: await store.findApplication(id),
      })),
    ),
  ]);
  return connected
    .flatMap(({ application, tokens, ...times }) =>
      // The grants of a deleted application no longer work, and are revoked in the background.
      application === null
        ? []
        : [{ application, scopes: describeTokens(tokens, described), ...times }],
    )
    .sort((one, other) => byName(one.application, other.application));
}

export async function listConnectionsWithGrants(
  service: Pick<Service, 'store'>,
  account_id: string,
): Promise<ConnectionWithGrants[]> {
  const grantsByApplication = new Map<string, ConnectedGrant[]>();
  const connections = await listConnections(service, account_id, (grant) => {
    const { application_id, grant_id, created_at, scope } = grant;
    const grants = grantsByApplication.get(application_id) ?? [];
    grants.push({ grant_id, created_at, scope });
    grantsByApplication.set(application_id, grants);
  });
  return connections.map((connection) => ({
    ...connection,
    grants: grantsByApplication.get(connection.application.id) ?? [],
  }));
}

function byName(one: ApplicationRecord, other: ApplicationRecord): number {
  return one.name.localeCompare(other.name, 'en') || one.id.localeCompare(other.id);
}

const PAGE = 100;

export async function* activeGrants(
  store: Store,
  filter: { account_id: string; application_id?: string },
): AsyncGenerator<GrantRecord> {
  let page: GrantRecord[];
  let before: string | null = null;
  do {
    page = await store.listActiveGrants(filter, { limit: PAGE, before });
    yield* page;
    before = page.at(-1)?.grant_id ?? null;
  } while (page.length === PAGE);
}
