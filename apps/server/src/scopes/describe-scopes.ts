import type { ScopeRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/**
 * The tokens of a scope in words, each once. One without a description has its name as title: it was
 * described when it was asked for, or the operator issued it without asking.
 *
 * @param scope - tokens that are separated by single spaces
 */
export function describeScope(scope: string, described: readonly ScopeRecord[]): ScopeRecord[] {
  const byName = new Map(described.map((record) => [record.scope, record]));
  return [...new Set(scope.split(' '))].map(
    (token) => byName.get(token) ?? { scope: token, title: token, description: null, texts: {} },
  );
}

/** Like {@link describeScope}, with the descriptions as they are now. */
export async function readScope(store: Store, scope: string): Promise<ScopeRecord[]> {
  return describeScope(scope, await store.listScopes());
}
