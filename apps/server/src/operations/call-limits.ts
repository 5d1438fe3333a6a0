import { type ErrorCode, errorDefinition } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import type { ActionName } from '../initiator.ts';
import { addressKey } from '../limits/address-key.ts';
import type { Limit } from '../limits/limit.ts';
import type { Limits } from '../limits/limits.ts';
import type { Reason } from '../reasons.ts';
import type { AnyCaller } from './handler.ts';

// Anyone can cause these: an application's callback is public and takes codes from the browser. A
// used code is one of them: whoever saw the redirect can repeat it.
const FAILED_EXCHANGES: ReadonlySet<ErrorCode> = new Set([
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

/** Counts the call against its application, or its address. Over the limit nothing is done. */
export async function withinLimits(
  limits: Limits,
  name: ActionName,
  caller: AnyCaller,
  handle: () => Promise<object>,
): Promise<object> {
  if (name === 'links.begin' && 'address_key' in caller) {
    return countIfDone(limits.links, caller.address_key, handle);
  }
  const application_id = applicationOf(caller);
  // The calls of an operator and of a user have no limit.
  if (application_id === null) return handle();
  limits.requests.count(application_id);
  try {
    return await handle();
  } catch (error) {
    // A stranger may have called in the name of a public application: see limitFailure. And nothing that
    // comes of a stranger's codes, or of the service itself, may use up what good exchanges need.
    if (isPublic(caller) || name === 'grants.convert') limits.requests.giveBack(application_id);
    const isFailedExchange = error instanceof DomainError && FAILED_EXCHANGES.has(error.code);
    if (isFailedExchange && !isPublic(caller)) limits.exchanges.count(application_id);
    throw error;
  }
}

/** The application that calls, or that the calling grant belongs to; null for other callers. */
function applicationOf(caller: AnyCaller): string | null {
  if ('secret_id' in caller) return caller.application.id;
  return 'grant' in caller ? caller.grant.application_id : null;
}

async function countIfDone(limit: Limit, key: string, run: () => Promise<object>): Promise<object> {
  limit.count(key);
  try {
    return await run();
  } catch (error) {
    limit.giveBack(key);
    throw error;
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

function isPublic(caller: AnyCaller): boolean {
  return 'secret_id' in caller && caller.secret_id === null;
}
