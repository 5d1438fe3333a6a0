import { DomainError } from '@latchkey/domain/domain-error';
import type { ActionName } from '@latchkey/domain/initiator';
import type { Reason } from '@latchkey/domain/reasons';
import { addressKey } from '@latchkey/rules/limits/limit';
import type { Limits } from '@latchkey/rules/limits/limits';
import { type ErrorCode, errorDefinition } from '@latchkey/schema';
import type { CountsAgainst } from './action.ts';
import type { AnyCaller } from './caller.ts';

// Anyone can cause these: an application's callback is public and takes codes from the browser.
// Whoever saw the redirect can repeat a used code.
const WRONG_CODE: ReadonlySet<ErrorCode> = new Set([
  'code_not_found',
  'code_expired',
  'redirect_uri_mismatch',
  'code_verifier_mismatch',
  'target_mismatch',
  'code_already_used',
]);

// The reasons for which a guessed ticket, cookie or form token is refused.
const GUESSES: ReadonlySet<Reason | null> = new Set<Reason>([
  'page_ticket_ill_formed',
  'page_ticket_wrong',
  'page_session_ill_formed',
  'page_session_wrong',
  'page_unknown',
  'form_token_wrong',
]);

type Counted = Exclude<CountsAgainst, 'nothing'>;

export function countCall(limits: Limits, counts: Counted, caller: AnyCaller): void {
  const key = keyOf(counts, caller);
  if (key !== null) limits[counts === 'exchanges' ? 'requests' : counts].count(key);
}

export function countFailure(
  limits: Limits,
  counts: Counted,
  caller: AnyCaller,
  error: unknown,
): void {
  const key = keyOf(counts, caller);
  if (key === null) return;
  if (counts === 'links') limits.links.giveBack(key);
  // Wrong codes and faults of the service must not use up what good exchanges need.
  else if (counts === 'exchanges') limits.requests.giveBack(key);
  const isWrongCode = error instanceof DomainError && WRONG_CODE.has(error.code);
  if (counts === 'exchanges' && isWrongCode && !isPublic(caller)) limits.exchanges.count(key);
}

/**
 * Anybody can revoke in the name of a public application, and anybody can get a grant of it with an
 * account of their own. So these calls do not count against the application, which all of its users
 * share. Only conversions do.
 */
function keyOf(counts: Counted, caller: AnyCaller): string | null {
  switch (caller.kind) {
    case 'application':
      return counts === 'requests' && isPublic(caller) ? null : caller.application.id;
    case 'grant': {
      const { application_public, account, grant } = caller;
      const { application_id } = grant;
      return application_public ? `${application_id}/${account?.id ?? ''}` : application_id;
    }
    case 'visitor':
      return caller.address_key;
    case 'user':
      return caller.page.id;
    case 'operator':
      return null;
  }
}

/** An address whose links are approved belongs to users, so its next links are not limited as a flood. */
export function noteLink(
  { links }: Limits,
  name: ActionName,
  link_id: string,
  address: string | undefined,
): void {
  if (name === 'links.begin') links.begun(link_id, addressKey(address));
  if (name === 'admin.links.approve') links.approved(link_id);
}

/** Anybody can send a revocation that revokes nothing in the name of a public application: its id is enough. */
export function countFruitless(
  { authentications }: Limits,
  caller: AnyCaller,
  address: string | undefined,
): void {
  if (isPublic(caller)) authentications.count(addressKey(address));
}

/**
 * If anybody can be the caller, as with a ticket or a public application, the address counts. So does an
 * unexpected error for a caller who has proven nothing: it writes the longest lines of the log.
 */
export function limitFailure(
  { authentications }: Limits,
  caller: AnyCaller | null,
  address: string | undefined,
  error: DomainError,
): DomainError {
  const isOurs = errorDefinition(error.code).status >= 500 || error.code === 'rate_limited';
  const isOfPublic = caller !== null && isPublic(caller) && !isOurs;
  const isUnexpected = !isProven(caller) && error.code === 'internal_error';
  if (!isOfPublic && !isUnexpected && !GUESSES.has(error.reason)) return error;
  try {
    authentications.count(addressKey(address));
    return error;
  } catch (limited) {
    return DomainError.from(limited);
  }
}

/** Whether a credential says who the caller is. The id of a public application says nothing: anybody can send it. */
export const isProven = (caller: AnyCaller | null): boolean =>
  caller !== null && caller.kind !== 'visitor' && !isPublic(caller);

function isPublic(caller: AnyCaller): boolean {
  return caller.kind === 'application' && caller.secret_id === null;
}
