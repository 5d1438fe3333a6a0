import { createHash } from 'node:crypto';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Reason } from '@latchkey/domain/reasons';
import { fields, uuidToBytes } from '@latchkey/schema';
import type { ResourceRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { ClientDocument } from '../client-documents/document.ts';
import { openClaim, type Voucher } from '../vouchers.ts';
import { applicationSubject, type LinkingApplication } from './linking-application.ts';

export interface AskedScope {
  scope: string;
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
  asked: string | null,
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

  const named = asked?.match(/[^ ]+/g) ?? [];
  if (named.length > 0) {
    const scope = isForgiving ? named.join(' ') : asked;
    if (!fields.scope.safeParse(scope).success) throw refuse('scope_ill_formed');
    const { isDescribed, allowed } = await find(named);
    if (!isForgiving && !isDescribed) throw refuse('scope_undescribed');
    if (!isForgiving && allowed.size < named.length) throw refuse('scope_not_allowed');
    if (allowed.size > 0) return toScope(allowed);
  }
  const defaults = [
    { tokens: resource?.default_scopes, withSensitive: true },
    { tokens: application.default_scopes, withSensitive: true },
    { tokens: resource?.scopes, withSensitive: false },
  ];
  for (const { tokens, withSensitive } of defaults) {
    if (tokens == null) continue;
    const { allowed } = await find(tokens, withSensitive);
    if (allowed.size > 0) return toScope(allowed);
  }
  const hasDefault = defaults.some(({ tokens }) => tokens != null);
  throw refuse(hasDefault ? 'scope_default_unusable' : 'scope_missing');
}

/** Most documents name scopes of OpenID Connect. If none is described here, they mean nothing. */
async function boundOf(store: Store, scope: string | null): Promise<string[] | null> {
  if (scope === null) return null;
  // A stranger names thousands, of which the store is not asked one by one. Few are described.
  const named = new Set(scope.split(' '));
  const described = (await store.listScopeNames()).filter((name) => named.has(name));
  return described.length > 0 ? described : null;
}

function toScope(ids: ReadonlyMap<string, string>): AskedScope {
  return { scope: [...ids.keys()].join(' '), description_hash: hashIds(ids.values()) };
}

/** Of the descriptions of a scope, in the order of its tokens. Of 32 ids, it takes a sixteenth of the room. */
export function hashIds(ids: Iterable<string>): Uint8Array {
  const hash = createHash('sha256');
  for (const id of ids) hash.update(uuidToBytes(id));
  return hash.digest();
}
