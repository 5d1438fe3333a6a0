import type { ScopeRecord } from '@latchkey/store/records';
import { isUnusedSince, unusedBefore } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { scopeWithOptional } from './asked-scope.ts';
import { describeTokens } from './describe-scopes.ts';
import type { LinkAccess } from './link-access.ts';

// One read. An account with more grants of one application sees what the newest allow.
const MOST_GRANTS = 1_000;

/** What the account allows the application at the same resource by now, and is not asked again. */
export async function listAlreadyAllowed(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  { link, application }: Pick<LinkAccess, 'link' | 'application'>,
  account_id: string,
): Promise<ScopeRecord[]> {
  const { id: application_id } = application;
  if (application_id === null) return [];
  const range = { limit: MOST_GRANTS, before: null };
  const grants = await store.listActiveGrants({ account_id, application_id }, range);
  const resource = link.resource?.resource ?? null;
  const idleSince = unusedBefore(application, clock());
  const allowed = new Set<string>();
  for (const grant of grants) {
    const isIdle = idleSince !== null && isUnusedSince(grant, idleSince);
    if (grant.resource !== resource || isIdle) continue;
    for (const token of grant.scope.split(' ')) allowed.add(token);
  }
  for (const token of scopeWithOptional(link).split(' ')) allowed.delete(token);
  return allowed.size === 0 ? [] : describeTokens(allowed, await store.listScopes());
}
