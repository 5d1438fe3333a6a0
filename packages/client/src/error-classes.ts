import type { ErrorCode } from '@latchkey/schema';
import {
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

// `satisfies` makes a new row in the service's table a type error here, until someone has decided
// what it is to a caller.
const byCode = {
  credentials_missing: AuthenticationError,
  credentials_invalid: AuthenticationError,
  body_malformed: InvalidRequestError,
  parameter_invalid: InvalidRequestError,
  media_type_unsupported: InvalidRequestError,
  body_too_large: InvalidRequestError,
  route_not_found: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  code_not_found: CodeNotFoundError,
  code_expired: CodeExpiredError,
  code_already_used: CodeAlreadyUsedError,
  grant_not_found: GrantNotFoundError,
  grant_not_recoverable: GrantNotRecoverableError,
  // These four only come from operator operations, which this client does not have.
  application_not_found: InvalidRequestError,
  account_not_found: InvalidRequestError,
  secret_not_found: InvalidRequestError,
  secret_limit_reached: InvalidRequestError,
  rate_limited: RateLimitedError,
  store_unavailable: UnavailableError,
  outcome_unknown: OutcomeUnknownError,
  internal_error: ServerError,
} as const satisfies Record<ErrorCode, ErrorClass>;

const classes = new Map<string, ErrorClass>(Object.entries(byCode));

/**
 * The class for an error of the service.
 *
 * A code that this version does not know falls back to what its status promises and no more: a
 * 503 is not taken for {@link UnavailableError}, which promises that nothing was done. So does a
 * code whose class promises a `grant_id` that the answer lacks.
 */
export function errorClass({ errorCode = '', status = 0, grant_id }: ErrorDetails): ErrorClass {
  const known = classes.get(errorCode);
  const needsGrantId = known === CodeAlreadyUsedError || known === OutcomeUnknownError;
  if (known && !(needsGrantId && grant_id === undefined)) return known;
  if (status === 401) return AuthenticationError;
  if (status === 429) return RateLimitedError;
  return status < 500 ? InvalidRequestError : ServerError;
}
