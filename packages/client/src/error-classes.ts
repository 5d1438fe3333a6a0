import type { ErrorCode, errorTable } from '@latchkey/schema';
import {
  ApplicationDisabledError,
  AuthenticationError,
  CodeAlreadyUsedError,
  CodeExpiredError,
  CodeNotFoundError,
  type ErrorDetails,
  GrantNotFoundError,
  GrantNotRecoverableError,
  InvalidRequestError,
  type LatchkeyError,
  OutcomeUnknownError,
  RateLimitedError,
  RightMissingError,
  ServerError,
  UnavailableError,
} from './errors.ts';

type ErrorClass = new (message: string, details: ErrorDetails) => LatchkeyError;

/** The codes of a 503, but for what only browsers are told: no class needs to say that nothing was done. */
type Unavailable = Exclude<
  {
    [Code in ErrorCode]: (typeof errorTable)[Code]['status'] extends 503 ? Code : never;
  }[ErrorCode],
  'prefetch_refused'
>;

// The others have the class of their status. Because of `satisfies`, a new row with 503 in the error
// table is a type error until it is here.
const byCode = {
  right_missing: RightMissingError,
  application_disabled: ApplicationDisabledError,
  code_not_found: CodeNotFoundError,
  code_expired: CodeExpiredError,
  code_already_used: CodeAlreadyUsedError,
  grant_not_found: GrantNotFoundError,
  grant_not_recoverable: GrantNotRecoverableError,
  // Only /readyz returns it, which this client does not call.
  shutting_down: UnavailableError,
  store_unavailable: UnavailableError,
  store_full: UnavailableError,
  client_keys_unavailable: UnavailableError,
  client_document_unavailable: UnavailableError,
  outcome_unknown: OutcomeUnknownError,
} as const satisfies Partial<Record<ErrorCode, ErrorClass>> & Record<Unavailable, ErrorClass>;

const classes = new Map<string, ErrorClass>(Object.entries(byCode));

/**
 * The class for an error that the service reports.
 *
 * An `error_code` that this version does not know falls back to a class that promises no more than
 * its status does: a 503 does not become {@link UnavailableError}, which promises that nothing was
 * done. The same fallback applies if the class promises a `grant_id` that the response lacks.
 */
export function errorClass({ error_code = '', status = 0, grant_id }: ErrorDetails): ErrorClass {
  const known = classes.get(error_code);
  const needsGrantId = known === CodeAlreadyUsedError || known === OutcomeUnknownError;
  if (known && !(needsGrantId && grant_id === undefined)) return known;
  if (status === 401) return AuthenticationError;
  if (status === 429) return RateLimitedError;
  return status < 500 ? InvalidRequestError : ServerError;
}
