import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { ScopeRecord } from '../store/records.ts';

/** Every authorization request reads all names. */
export const MAX_SCOPES = 200;

export async function putScope({ store }: Service, scope: ScopeRecord): Promise<void> {
  const outcome = await store.putScope(scope, { most: MAX_SCOPES });
  if (outcome !== 'put') throw new DomainError(outcome);
}
