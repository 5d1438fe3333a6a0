import type { LinkRecord, ScopeRecord } from '@latchkey/store/records';
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

export interface DescribedRequest {
  scopes: ScopeRecord[];
  optional_scopes: ScopeRecord[];
  allowed_scopes: ScopeRecord[];
}

/**
 * What a link request asks for, in words.
 *
 * @param allowed - what the account already allows. Default: it is not shown
 */
export async function describeRequest(
  store: Store,
  { scope, optional_scope }: Pick<LinkRecord, 'scope' | 'optional_scope'>,
  allowed: ReadonlySet<string> = new Set(),
): Promise<DescribedRequest> {
  const described = await store.listScopes();
  const describe = (text: string | null) =>
    describeTokens(new Set(text?.split(' ') ?? []), described);
  return {
    scopes: describe(scope),
    optional_scopes: describe(optional_scope),
    allowed_scopes: describeTokens(allowed, described),
  };
}
