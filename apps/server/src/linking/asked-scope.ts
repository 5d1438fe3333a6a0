import { fields } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import type { Reason } from '../reasons.ts';
import type { ApplicationRecord, ResourceRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface AskedScope {
  scope: string;
  /** Of its tokens, in their order. */
  description_ids: string[];
}

interface Bounds {
  application: ApplicationRecord;
  resource: ResourceRecord | null;
  mayBeStale: boolean;
}

/**
 * The scope that a request asks for: without one, those of the default that it can ask for. With a
 * resource, so many clients ask for more than there is that the rest is left out (RFC 6749, section 3.3).
 */
export async function readScope(
  store: Store,
  asked: string | null,
  { application, resource, mayBeStale }: Bounds,
): Promise<AskedScope> {
  const refuse = (reason: Reason) =>
    DomainError.because(reason, { application_id: application.id });
  const isForgiving = resource !== null;
  const isAllowed = (token: string) =>
    [application.scopes, resource?.scopes].every((scopes) => scopes?.includes(token) ?? true);

  async function find(tokens: readonly string[]) {
    // An outdated id only makes a link request that is over.
    const ids = await store.findDescriptionIds(tokens, { mayBeStale });
    const described = tokens.flatMap((token, index) => {
      const id = ids[index] ?? null;
      return id === null ? [] : [{ token, id }];
    });
    return { described, allowed: described.filter(({ token }) => isAllowed(token)) };
  }

  const named = asked?.split(' ').filter((token) => token !== '') ?? [];
  if (named.length > 0) {
    const scope = isForgiving ? named.join(' ') : asked;
    if (!fields.scope.safeParse(scope).success) throw refuse('scope_ill_formed');
    const { described, allowed } = await find(named);
    if (!isForgiving && described.length < named.length) throw refuse('scope_undescribed');
    if (!isForgiving && allowed.length < named.length) throw refuse('scope_not_allowed');
    if (allowed.length > 0) return toScope(allowed);
  }
  const standard = resource?.default_scopes ?? application.default_scopes;
  if (standard === null) throw refuse('scope_missing');
  const { allowed } = await find(standard);
  if (allowed.length === 0) throw refuse('scope_default_unusable');
  return toScope(allowed);
}

function toScope(tokens: readonly { token: string; id: string }[]): AskedScope {
  return {
    scope: tokens.map(({ token }) => token).join(' '),
    description_ids: tokens.map(({ id }) => id),
  };
}
