import { createHash } from 'node:crypto';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Reason } from '@latchkey/domain/reasons';
import { fields, uuidToBytes } from '@latchkey/schema';
import type { LinkRecord, ResourceRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { ClientDocument } from '../client-documents/document.ts';
import { openClaim, type Voucher } from '../vouchers.ts';
import { applicationSubject, type LinkingApplication } from './linking-application.ts';

/** All that a request asks for: what the user can leave out comes last. */
export const scopeWithOptional = ({
  scope,
  optional_scope,
}: Pick<LinkRecord, 'scope' | 'optional_scope'>): string =>
  optional_scope === null ? scope : `${scope} ${optional_scope}`;

export interface AskedScope {
  scope: string;
  /** Null for nothing. */
  optional_scope: string | null;
  /** See {@link hashIds}. */
  description_hash: Uint8Array;
}

interface Bounds {
  application: LinkingApplication;
  document: ClientDocument | null;
  /** For the application, and so for the scopes of its document. */
  voucher: Voucher;
  resource: ResourceRecord | null;
  mayBeStale: boolean;
}

/**
 * The scope that a request asks for: without one, what it can ask for of the default, of the resource or else of the
 * application; and of a resource without a default, of all of its scopes that are not sensitive, since clients that
 * name none are many. With a resource or a document, so many clients ask for more than there is that the rest is left
 * out (RFC 6749, section 3.3).
 */
export async function readScope(
  store: Store,
  asked: { scope: string | null; optional_scope: string | null },
  { application, document, voucher, resource, mayBeStale }: Bounds,
): Promise<AskedScope> {
  const refuse = (reason: Reason) => DomainError.because(reason, applicationSubject(application));
  const isForgiving = resource !== null || document !== null;
  const ofDocument =
    document && (await boundOf(store, document.scope && openClaim(document.scope, voucher)));
  const bounds = [application.scopes, resource?.scopes, ofDocument];

  /** The tokens that can be asked for, with the ids of their descriptions. */
  async function find(tokens: readonly string[], withSensitive = true) {
    // An outdated id only makes a link request that is over.
    const ids = await store.findDescriptionIds(tokens, { mayBeStale, withSensitive });
    const isDescribed = !ids.includes(null);
    const allowed = new Map<string, string>();
    for (const [index, token] of tokens.entries()) {
      const id = ids[index] ?? null;
      const isAllowed = bounds.every((scopes) => scopes?.includes(token) ?? true);
      if (id !== null && isAllowed) allowed.set(token, id);
    }
    return { isDescribed, allowed };
  }

  async function findNamed(text: string | null): Promise<ReadonlyMap<string, string>> {
    const named = text?.match(/[^ ]+/g) ?? [];
    if (named.length === 0) return new Map();
    requireScope(isForgiving ? named.join(' ') : text);
    const { isDescribed, allowed } = await find(named);
    if (!isForgiving && !isDescribed) throw refuse('scope_undescribed');
    if (!isForgiving && allowed.size < named.length) throw refuse('scope_not_allowed');
    return allowed;
  }

  async function findDefault(): Promise<ReadonlyMap<string, string>> {
    const defaults = [
      { tokens: resource?.default_scopes, withSensitive: true },
      { tokens: application.default_scopes, withSensitive: true },
      { tokens: resource?.scopes, withSensitive: false },
    ];
    for (const { tokens, withSensitive } of defaults) {
      if (tokens == null) continue;
      const { allowed } = await find(tokens, withSensitive);
      if (allowed.size > 0) return allowed;
    }
    const hasDefault = defaults.some(({ tokens }) => tokens != null);
    throw refuse(hasDefault ? 'scope_default_unusable' : 'scope_missing');
  }

  function requireScope(text: string | null): void {
    if (!fields.scope.safeParse(text).success) throw refuse('scope_ill_formed');
  }

  const named = await findNamed(asked.scope);
  const required = named.size > 0 ? named : await findDefault();
  const optional = [...(await findNamed(asked.optional_scope))].filter(
    ([token]) => !required.has(token),
  );
  const scopes = {
    scope: [...required.keys()].join(' '),
    optional_scope: optional.map(([token]) => token).join(' ') || null,
  };
  requireScope(scopeWithOptional(scopes));
  const ids = [...required.values(), ...optional.map(([, id]) => id)];
  return { ...scopes, description_hash: hashIds(ids) };
}

/** Most documents name scopes of OpenID Connect. If none is described here, they mean nothing. */
async function boundOf(store: Store, scope: string | null): Promise<string[] | null> {
  if (scope === null) return null;
  // A stranger names thousands, of which the store is not asked one by one. Few are described.
  const named = new Set(scope.split(' '));
  const described = (await store.listScopeNames()).filter((name) => named.has(name));
  return described.length > 0 ? described : null;
}

/** Of the descriptions of all that is asked for, in the order of the tokens. Of 32 ids, it takes a sixteenth of the room. */
export function hashIds(ids: Iterable<string>): Uint8Array {
  const hash = createHash('sha256');
  for (const id of ids) hash.update(uuidToBytes(id));
  return hash.digest();
}
