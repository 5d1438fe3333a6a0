import type { ScopeRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/**
 * Tokens of a scope in words. One without a description has its name as title: it was described when
 * it was asked for, or the operator issued it without asking.
 */
export function describeTokens(
  tokens: ReadonlySet<string>,
  described: readonly ScopeRecord[],
): ScopeRecord[] {
  const byName = new Map(described.map((record) => [record.scope, record]));
  return [...tokens].map(
    (token) => byName.get(token) ?? { scope: token, title: token, description: null, texts: {} },
  );
}

/**
 * The tokens of a scope, each once, in the words that describe them now.
 *
 * @param scope - tokens that are separated by single spaces
 */
export async function readScope(store: Store, scope: string): Promise<ScopeRecord[]> {
  return describeTokens(new Set(scope.split(' ')), await store.listScopes());
}
