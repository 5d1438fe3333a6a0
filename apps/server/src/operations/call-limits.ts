import { type ErrorCode, errorDefinition } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import { addressKey } from '../limits/address-key.ts';
import type { Limits } from '../limits/limits.ts';
import type { Reason } from '../reasons.ts';
import type { ActionColumns } from './action.ts';
import type { AnyCaller } from './caller.ts';

// Anyone can cause these: an application's callback is public and takes codes from the browser. A
// used code is one of them: whoever saw the redirect can repeat it.
const WRONG_CODE: ReadonlySet<ErrorCode> = new Set([
  'code_not_found',
  'code_expired',
  'redirect_uri_mismatch',
  'code_verifier_mismatch',
  'code_already_used',
]);

// What somebody who guesses a ticket, a cookie or a form token causes.
const GUESSES: ReadonlySet<Reason | null> = new Set<Reason>([
  'page_ticket_ill_formed',
  'page_ticket_wrong',
  'page_session_ill_formed',
  'page_session_wrong',
  'page_unknown',
  'form_token_wrong',
]);

/**
 * Counts a call against what its action names.
 *
 * @throws RateLimited if that has reached its limit: then nothing is done
 */
export function countCall(limits: Limits, { counts }: ActionColumns, caller: AnyCaller): void {
  const key = keyOf(caller);
  if (counts === 'nothing' || key === null) return;
  limits[counts === 'links' ? 'links' : 'requests'].count(key);
}

/** Corrects the counts of a call that has failed. */
export function countFailure(
  limits: Limits,
  { counts }: ActionColumns,
  caller: AnyCaller,
  error: unknown,
): void {
  const key = keyOf(caller);
  if (counts === 'nothing' || key === null) return;
  if (counts === 'links') limits.links.giveBack(key);
  // A stranger may have called in the name of a public application: see limitFailure. And nothing that
  // comes of a stranger's codes, or of the service itself, may use up what good exchanges need.
  else if (counts === 'exchanges' || isPublic(caller)) limits.requests.giveBack(key);
  const isWrongCode = error instanceof DomainError && WRONG_CODE.has(error.code);
  if (counts === 'exchanges' && isWrongCode && !isPublic(caller)) limits.exchanges.count(key);
}

/** The address of a visitor, the application of a secret or a grant; null for callers without a limit. */
function keyOf(caller: AnyCaller): string | null {
  switch (caller.kind) {
    case 'application':
      return caller.application.id;
    case 'grant':
      return caller.grant.application_id;
    case 'visitor':
      return caller.address_key;
    case 'operator':
    case 'user':
      return null;
  }
}

/**
 * Counts a failure against the address where the caller could be anybody: anybody can call in the name
 * of a public application, and anybody can make up a ticket, a cookie or a form.
 *
 * @param caller - null if it was not authenticated
 * @returns the error; `rate_limited` in its place if the address has reached its limit
 */
export function limitFailure(
  { authentications }: Limits,
  caller: AnyCaller | null,
  address: string | undefined,
  error: DomainError,
): DomainError {
  const isOurs = errorDefinition(error.code).status >= 500 || error.code === 'rate_limited';
  const isOfPublic = caller !== null && isPublic(caller) && !isOurs;
  if (!isOfPublic && !GUESSES.has(error.reason)) return error;
  try {
    authentications.count(addressKey(address));
    return error;
  } catch (limited) {
    return DomainError.from(limited);
  }
}

/** Whether the call is in the name of a public application: anybody can make it. */
function isPublic(caller: AnyCaller): boolean {
  return caller.kind === 'application' && caller.secret_id === null;
}
