import type { Caller } from './caller.ts';

/** A row of {@link errorTable}. */
export interface ErrorDefinition {
  /** HTTP status of the response. */
  readonly status: number;
  /** The standard OAuth word (RFC 6749 section 5.2, RFC 6750 section 3.1). */
  readonly error: string;
  /** What happened, in a few words. It is a heading in the docs. */
  readonly title: string;
  /**
   * `error_description` on the wire: what happened and what to do next. RFC 6749, section 5.2,
   * limits its characters to printable ASCII without `"` and `\`.
   */
  readonly description: string;
  /** For the docs: when it happens and what to check. */
  readonly help: string;
  /** Members of the body besides the five that every error has. */
  readonly members?: readonly ('grant_id' | 'issues')[];
  /** Seconds for `Retry-After`, if a retry can help. */
  readonly retryAfter?: number;
}

/**
 * Every error that the service can return, by its `error_code`. The union type, the HTTP statuses,
 * the docs page, OpenAPI and the error classes of the client are derived from this table.
 */
export const errorTable = {
  credentials_missing: {
    status: 401,
    error: 'invalid_client',
    title: 'No credentials were sent',
    description:
      'This request has no Authorization header. Send Authorization: Bearer <secret> with the secret that this route requires.',
    help: 'Routes under /oauth require an application secret (lk_app_…), routes under /v1 a grant secret (lk_grant_…) and routes under /admin the ADMIN_SECRET. Some HTTP clients drop the header when they follow a redirect: call the final address directly.',
  },
  credentials_invalid: {
    status: 401,
    error: 'invalid_client',
    title: 'The credentials are not valid here',
    description:
      'The credentials in the Authorization header are not valid for this route. Check that the secret is complete, that it is the kind of secret this route requires, and that it has not been removed, expired or revoked.',
    help: 'Possible causes: the header is empty or uses another scheme; the secret is cut short, mistyped or of another kind (see its prefix); the secret was removed or has expired; the grant was revoked. For security, the response does not say which. An operator can look it up by the request id. A revoked grant does not come back: let the user link the account again.',
  },
  application_disabled: {
    status: 403,
    error: 'unauthorized_client',
    title: 'The application is disabled',
    description:
      'The credentials are valid, but the operator has disabled the application that they belong to. Nothing is lost: keep the grant and try again later.',
    help: 'Nothing was done. When the operator enables the application, its secrets and grants work as before. Only valid credentials get this error: a removed secret or a revoked grant is still `credentials_invalid`. If it lasts, ask the operator, who can run `latchkey app enable APP_ID`.',
  },
  body_malformed: {
    status: 400,
    error: 'invalid_request',
    title: 'The body is not a JSON object',
    description:
      'The request body is not a JSON object in UTF-8. Send a JSON object that has the members of this operation.',
    help: 'The body is empty, is not JSON, is not UTF-8, or is JSON but not an object. Serialize the body with a JSON library instead of by hand.',
  },
  parameter_invalid: {
    status: 400,
    error: 'invalid_request',
    title: 'A parameter is missing or invalid',
    description:
      'At least one parameter is missing or invalid. Correct the parameters listed in issues: each entry has a path and a message that says what is expected.',
    help: 'Each entry of "issues" has the path of a member of the input and a message. The value is never repeated, because it could be a secret. Identifiers in the path and the query are checked too.',
    members: ['issues'],
  },
  media_type_unsupported: {
    status: 415,
    error: 'invalid_request',
    title: 'The body is not sent as JSON',
    description:
      'The request body is not declared as plain JSON. Set Content-Type: application/json, encode the body as UTF-8 and do not set Content-Encoding.',
    help: 'The Content-Type is missing or is not JSON, its charset is not UTF-8, or the body is compressed. curl sends a form by default: add -H "Content-Type: application/json".',
  },
  body_too_large: {
    status: 413,
    error: 'invalid_request',
    title: 'The body is larger than 16 KiB',
    description:
      'The request body is larger than 16 KiB. Send only the members that the operation takes, and split a large tRPC batch into smaller ones.',
    help: 'No operation needs more than a few kilobytes. The limit applies to a whole tRPC batch.',
  },
  batch_too_large: {
    status: 413,
    error: 'invalid_request',
    title: 'The batch has more than 16 calls',
    description:
      'This tRPC batch has more than 16 calls. Send them in batches of at most 16: set maxItems of httpBatchLink to 16.',
    help: 'None of the calls was made. The limit is on calls; the whole batch also has to fit into 16 KiB.',
  },
  route_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such route',
    description:
      'There is no such route. Check the path: it is case-sensitive and does not end with a slash. GET /openapi.json lists all REST operations.',
    help: 'The /admin routes exist only if ADMIN_SECRET is set, and /metrics only with METRICS=on. If ADMIN_PORT is set, they are on that port, and the other routes are not.',
  },
  method_not_allowed: {
    status: 405,
    error: 'invalid_request',
    title: 'The route does not support this method',
    description:
      'This route exists but does not support this method. Use a method from the Allow header.',
    help: 'Over tRPC, call queries with GET and mutations with POST.',
  },
  code_not_found: {
    status: 400,
    error: 'invalid_grant',
    title: 'There is no such code',
    description:
      'This code is not known for this application. Check that the code is complete and that it was issued to the application whose secret you sent. Otherwise let the user start again.',
    help: 'The code was mistyped, cut short, cancelled, issued to another application, or never issued. The response is the same in each case, so that nobody can find out whose code it is. If the code exists, it was not consumed.',
  },
  code_expired: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code is older than 5 minutes',
    description:
      'This code is older than 5 minutes and has expired. Let the user start again, and convert the new code immediately.',
    help: 'A code expires 300 seconds after it is issued. If fresh codes expire, compare the clocks of the machines that issue codes and convert them.',
  },
  code_already_used: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code was already converted',
    description:
      'This application has already converted this code, and a code works only once. If the response with the grant was lost, recover the grant named by grant_id within 10 minutes of the conversion. Otherwise use the grant you have stored, or let the user start again.',
    help: 'A retry, a double click or a second worker sent the same code again: exactly one call got the grant. The replay changed nothing, and the grant still works.',
    members: ['grant_id'],
  },
  grant_not_found: {
    status: 404,
    error: 'invalid_grant',
    title: 'There is no such grant',
    description:
      'This application has no grant with this grant_id. Check that the id is the one returned by convert, and that you sent the secret of the application that converted the code.',
    help: 'The grant is unknown, belongs to another application, or its code was not converted yet (an operator can cancel such a code). The response is the same in each case.',
  },
  grant_not_recoverable: {
    status: 409,
    error: 'invalid_grant',
    title: 'The grant can no longer be recovered',
    description:
      'This grant has been used or is more than 10 minutes old, so it cannot be recovered. Use the grant_secret you have stored. If you have none, revoke the grant and let the user link the account again.',
    help: 'Recovery is for a lost response. It ends with the first request that is authenticated with the grant secret, or 10 minutes after the conversion.',
  },
  application_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such application',
    description:
      'There is no application with this id. List the applications to find the right id, or create the application first.',
    help: '`latchkey app list` and GET /admin/applications show every application with its id.',
  },
  account_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such account',
    description: 'There is no account with this id. Put the account first, then try again.',
    help: '`latchkey account put` and PUT /admin/accounts/{account_id} make an account known to the service.',
  },
  secret_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'The application has no such secret',
    description:
      'This application has no secret with this id. It may have been removed. Get the application to see its secrets.',
    help: 'Use the id of the secret record (`secrets[].id`), not the secret itself.',
  },
  secret_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'The application has 5 live secrets',
    description:
      'This application has 5 live secrets, which is the maximum. Remove a secret that is no longer used (see last_used_at), then try again.',
    help: 'Expired secrets are listed but do not count.',
  },
  application_enabled: {
    status: 409,
    error: 'invalid_request',
    title: 'The application is enabled',
    description:
      'This application is enabled, and only a disabled application can be deleted. Disable it, check that nobody misses it, then delete it.',
    help: '`latchkey app disable` can be undone, deleting cannot: the grants of the application are revoked for good.',
  },
  rate_limited: {
    status: 429,
    error: 'temporarily_unavailable',
    title: 'Too many requests',
    description:
      'Too many requests were sent in a short time, and this one changed nothing. Wait for the number of seconds in Retry-After, then try again.',
    help: 'The application sent too many requests, the application sent too many unknown or expired codes, or too many requests with invalid credentials came from this address. The RateLimit headers give the limit, what is left of it, and the seconds until the window ends. Valid credentials are accepted from any address, and a valid code is converted however many invalid ones were sent.',
    retryAfter: 1,
  },
  shutting_down: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The service is shutting down',
    description:
      'This process is shutting down and will soon take no more requests. Send requests to another process.',
    help: 'Only GET /readyz returns this error, for DRAIN_SECONDS after SIGTERM, so that a load balancer stops routing to the process. Until then the process handles every other request.',
    retryAfter: 1,
  },
  store_unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The database is unavailable',
    description:
      'The service cannot use its database right now, and nothing was changed. Wait for the number of seconds in Retry-After, then try again.',
    help: 'No code was consumed and no grant was changed. For operators: the log has the cause under the same request id, and GET /readyz shows when the database responds again.',
    retryAfter: 1,
  },
  outcome_unknown: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'It is not known whether the change was made',
    description:
      'The database failed after the change was sent, and the outcome could not be read back. After convert, recover the grant named by grant_id; if that returns 404, convert the code again. After revoke, revoke again.',
    help: 'The change was made completely or not at all. Repeat the step named in the description until it succeeds.',
    members: ['grant_id'],
    retryAfter: 1,
  },
  internal_error: {
    status: 500,
    error: 'server_error',
    title: 'The service failed',
    description:
      'The service failed unexpectedly. Try again later. If the error persists, give the request_id to the operator of the service.',
    help: 'The log of the service has the cause under the same request id. Please report it.',
  },
} as const satisfies Record<string, ErrorDefinition>;

/** The stable code of an error, `error_code` on the wire. */
export type ErrorCode = keyof typeof errorTable;

/** Every {@link ErrorCode}, in the order of the docs. */
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The row of an error, with the wide type instead of the literal types of the table. */
export function errorDefinition(code: ErrorCode): ErrorDefinition {
  return errorTable[code];
}

/**
 * The OAuth error word, `error` on the wire. A request with a grant addresses a protected resource,
 * where invalid credentials are an `invalid_token` (RFC 6750, section 3.1). Applications and the
 * operator are OAuth clients.
 *
 * @param caller - who may call the operation; null if the request matched no operation
 */
export function errorWord(code: ErrorCode, caller: Caller | null): string {
  const { error } = errorDefinition(code);
  return caller === 'grant' && error === 'invalid_client' ? 'invalid_token' : error;
}
