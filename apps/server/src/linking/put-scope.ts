import type { Dependencies } from '../dependencies.ts';
import { DomainError } from '../domain-error.ts';
import type { ScopeRecord } from '../store/records.ts';

/** Every authorization request reads all names. */
export const MAX_SCOPES = 200;

export async function putScope(
  { store }: Pick<Dependencies, 'store'>,
  scope: ScopeRecord,
): Promise<void> {
  const outcome = await store.putScope(scope, { most: MAX_SCOPES });
  if (outcome !== 'put') throw new DomainError(outcome);
}
