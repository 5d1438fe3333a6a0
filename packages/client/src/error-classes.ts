import type { ErrorCode } from '@latchkey/schema';
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
  ServerError,
  UnavailableError,
} from './errors.ts';

type ErrorClass = new (message: string, details: ErrorDetails) => LatchkeyError;

// Because of `satisfies`, a new row in the service's error table is a type error until it gets a
// class here.
const byCode = {
  credentials_missing: AuthenticationError,
  credentials_invalid: AuthenticationError,
  application_disabled: ApplicationDisabledError,
  body_malformed: InvalidRequestError,
  parameter_invalid: InvalidRequestError,
  media_type_unsupported: InvalidRequestError,
  body_too_large: InvalidRequestError,
  batch_too_large: InvalidRequestError,
  route_not_found: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  code_not_found: CodeNotFoundError,
  code_expired: CodeExpiredError,
  code_already_used: CodeAlreadyUsedError,
  grant_not_found: GrantNotFoundError,
  grant_not_recoverable: GrantNotRecoverableError,
  // Only operator operations return these five, and this client has none.
  application_not_found: InvalidRequestError,
  account_not_found: InvalidRequestError,
  secret_not_found: InvalidRequestError,
  secret_limit_reached: InvalidRequestError,
  application_enabled: InvalidRequestError,
  rate_limited: RateLimitedError,
  // Only /readyz returns it, which this client does not call.
  shutting_down: UnavailableError,
  store_unavailable: UnavailableError,
  outcome_unknown: OutcomeUnknownError,
  internal_error: ServerError,
} as const satisfies Record<ErrorCode, ErrorClass>;

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
