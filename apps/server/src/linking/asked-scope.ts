import { fields } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import type { Reason } from '../reasons.ts';
import type { ApplicationRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface AskedScope {
  scope: string;
  /** Of its tokens, in their order. */
  description_ids: string[];
}

/** Without a scope, a request asks for those of the default that it can ask for. */
export async function readScope(
  store: Store,
  asked: string | null,
  { application, mayBeStale }: { application: ApplicationRecord; mayBeStale: boolean },
): Promise<AskedScope> {
  const { id: application_id, scopes, default_scopes } = application;
  const refuse = (reason: Reason) => DomainError.because(reason, { application_id });
  const isNamed = asked !== null && !/^ *$/.test(asked);
  if (isNamed && !fields.scope.safeParse(asked).success) throw refuse('scope_ill_formed');
  const tokens = isNamed ? asked.split(' ') : default_scopes;
  if (tokens === null) throw refuse('scope_missing');

  // An outdated id only makes a link request that is over.
  const ids = await store.findDescriptionIds(tokens, { mayBeStale });
  const described = tokens.flatMap((token, index) => {
    const id = ids[index] ?? null;
    return id === null ? [] : [{ token, id }];
  });
  const allowed = described.filter(({ token }) => scopes?.includes(token) ?? true);
  if (isNamed && described.length < tokens.length) throw refuse('scope_undescribed');
  if (isNamed && allowed.length < tokens.length) throw refuse('scope_not_allowed');
  if (allowed.length === 0) throw refuse('scope_default_unusable');
  return {
    scope: allowed.map(({ token }) => token).join(' '),
    description_ids: allowed.map(({ id }) => id),
  };
}
