import type { ScopeRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';

export function describeTokens(
  tokens: ReadonlySet<string>,
  described: readonly ScopeRecord[],
): ScopeRecord[] {
  const byName = new Map(described.map((record) => [record.scope, record]));
  return [...tokens].map(
    (token) =>
      byName.get(token) ?? {
        ...{ scope: token, title: token, description: null, texts: {} },
        sensitive: false,
      },
  );
}

export async function readScope(store: Store, scope: string): Promise<ScopeRecord[]> {
  return describeTokens(new Set(scope.split(' ')), await store.listScopes());
}
