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
  RightMissingError,
  ServerError,
  UnavailableError,
} from './errors.ts';

type ErrorClass = new (message: string, details: ErrorDetails) => LatchkeyError;

/**
 * The codes of errors that say that the request is wrong. They have a 4xx status, so
 * {@link errorClass} needs no row for them.
 */
type InvalidRequest =
  | 'body_malformed'
  | 'parameter_invalid'
  | 'media_type_unsupported'
  | 'body_too_large'
  | 'batch_too_large'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'grant_type_unsupported'
  | 'redirect_uri_mismatch'
  | 'code_verifier_mismatch'
  | 'token_of_another_application'
  // Only operator operations return these.
  | 'application_not_found'
  | 'application_enabled'
  | 'application_public'
  | 'application_documented'
  | 'account_not_found'
  | 'secret_not_found'
  | 'secret_limit_reached'
  | 'scope_not_found'
  | 'scope_unknown'
  | 'scope_limit_reached'
  | 'target_unknown'
  | 'target_mismatch'
  | 'resource_mismatch'
  | 'resource_not_found'
  | 'resource_exists'
  | 'resource_limit_reached'
  | 'key_not_found'
  | 'key_limit_reached'
  | 'endpoint_not_found'
  | 'endpoint_limit_reached'
  | 'endpoint_disabled'
  | 'delivery_not_found'
  | 'delivery_pending'
  | 'account_changed'
  | 'link_not_found'
  | 'link_expired'
  | 'link_decided';

/** The codes of errors that only browsers see: on a page, or in a redirect to the application. */
type InBrowser =
  | 'client_unknown'
  | 'client_document_invalid'
  | 'redirect_uri_unregistered'
  | 'state_invalid'
  | 'response_type_unsupported'
  | 'challenge_required'
  | 'access_denied'
  | 'page_expired'
  | 'cookies_refused'
  | 'prefetch_refused'
  | 'form_rejected';

// Because of `satisfies`, a new row in the service's error table is a type error until it is here or
// in one of the types above.
const byCode = {
  credentials_missing: AuthenticationError,
  credentials_invalid: AuthenticationError,
  right_missing: RightMissingError,
  application_disabled: ApplicationDisabledError,
  code_not_found: CodeNotFoundError,
  code_expired: CodeExpiredError,
  code_already_used: CodeAlreadyUsedError,
  grant_not_found: GrantNotFoundError,
  grant_not_recoverable: GrantNotRecoverableError,
  rate_limited: RateLimitedError,
  // Only /readyz returns it, which this client does not call.
  shutting_down: UnavailableError,
  store_unavailable: UnavailableError,
  store_full: UnavailableError,
  client_keys_unavailable: UnavailableError,
  client_document_unavailable: UnavailableError,
  outcome_unknown: OutcomeUnknownError,
  internal_error: ServerError,
} as const satisfies Record<Exclude<ErrorCode, InvalidRequest | InBrowser>, ErrorClass>;

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
