import { DomainError } from '@latchkey/domain/domain-error';
import type { ScopeRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

/** Every authorization request reads all names. */
export const MAX_SCOPES = 200;

export async function putScope(
  { store }: Pick<Dependencies, 'store'>,
  scope: ScopeRecord,
): Promise<void> {
  const outcome = await store.putScope(scope, { most: MAX_SCOPES });
  if (outcome !== 'put') throw new DomainError(outcome);
}
