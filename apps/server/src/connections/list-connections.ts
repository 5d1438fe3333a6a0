import type { Milliseconds } from '../clock.ts';
import { describeScope } from '../scopes/describe-scopes.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord, GrantRecord, ScopeRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** An application with active grants of an account. */
export interface Connection {
  application: ApplicationRecord;
  /** What its grants allow, in words. */
  scopes: ScopeRecord[];
  /** When its oldest active grant was made. */
  connected_at: Milliseconds;
  /** Newest first. */
  grants: GrantRecord[];
}

/** The applications that an account is connected to, by name; none if there is no such account. */
export async function listConnections(
  { store }: Service,
  account_id: string,
): Promise<Connection[]> {
  const grantsByApplication = new Map<string, GrantRecord[]>();
  for await (const grant of activeGrants(store, { account_id })) {
    const grants = grantsByApplication.get(grant.application_id);
    if (grants === undefined) grantsByApplication.set(grant.application_id, [grant]);
    else grants.push(grant);
  }
  const [described, applications] = await Promise.all([
    store.listScopes(),
    Promise.all([...grantsByApplication.keys()].map((id) => store.findApplication(id))),
  ]);
  return (
    applications
      // The grants of a deleted application are revoked in the background, and good for nothing.
      .filter((application) => application !== null)
      .map((application) => {
        const grants = grantsByApplication.get(application.id) ?? [];
        const scope = grants.map((grant) => grant.scope).join(' ');
        return {
          application,
          scopes: describeScope(scope, described),
          connected_at: grants.reduce(
            (oldest, { created_at }) => Math.min(oldest, created_at),
            Infinity,
          ),
          grants,
        };
      })
      .sort((one, other) => byName(one.application, other.application))
  );
}

function byName(one: ApplicationRecord, other: ApplicationRecord): number {
  return one.name.localeCompare(other.name, 'en') || one.id.localeCompare(other.id);
}

const PAGE = 100;

/** Every active grant of an account, newest first, read in pages. */
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
