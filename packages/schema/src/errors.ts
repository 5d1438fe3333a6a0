import type { Caller } from './operations.ts';

/** A row of {@link errorTable}. */
export interface ErrorDefinition {
  /** HTTP status of the answer. */
  readonly status: number;
  /** The standard OAuth word (RFC 6749 section 5.2, RFC 6750 section 3.1). */
  readonly error: string;
  /** What happened, in a few words; the heading in the docs. */
  readonly title: string;
  /** What the caller reads in `error_description`: what happened and what to do next. */
  readonly description: string;
  /** For the docs: when it happens, and what to check, for someone who is looking at it now. */
  readonly help: string;
  /** Members of the body beyond the five that every error has. */
  readonly members?: readonly ('grant_id' | 'issues')[];
  /** Seconds for `Retry-After`, where trying again can help. */
  readonly retryAfter?: number;
}

/**
 * Every error the service can answer, by its `error_code`. The union type, the HTTP statuses, the
 * docs page, OpenAPI and the client's error classes all come from this table.
 *
 * On `/v1` the word `invalid_client` reads `invalid_token`: there the caller is a grant.
 */
export const errorTable = {
  credentials_missing: {
    status: 401,
    error: 'invalid_client',
    title: 'No credentials were sent',
    description:
      'This request has no Authorization header. Send "Authorization: Bearer <secret>" with the secret that this route asks for.',
    help: 'Routes under /oauth take an application secret (lk_app_…), routes under /v1 a grant secret (lk_grant_…), routes under /admin the ADMIN_SECRET. Some HTTP clients drop the header on a redirect: call the final address directly.',
  },
  credentials_invalid: {
    status: 401,
    error: 'invalid_client',
    title: 'The credentials are not valid here',
    description:
      'The credentials in the Authorization header are not valid for this route. Check that the secret is complete, of the kind this route asks for, and neither removed, expired, revoked nor disabled.',
    help: 'The header may be empty or of another scheme, the secret cut short, mistyped or of another kind (the prefix tells), removed, past its expiry, its application disabled, or its grant revoked. For safety the answer does not say which; an operator finds that out with the request id. A revoked grant does not come back: let the user link the account again.',
  },
  body_malformed: {
    status: 400,
    error: 'invalid_request',
    title: 'The body is not a JSON object',
    description:
      'The request body could not be read as a JSON object in UTF-8. Send one, such as {"code":"…"}.',
    help: 'The body is empty, not JSON, not UTF-8, or JSON of another kind than an object. Serialise the body with a JSON library rather than by hand.',
  },
  parameter_invalid: {
    status: 400,
    error: 'invalid_request',
    title: 'A parameter is missing or invalid',
    description:
      'At least one parameter is missing or invalid. "issues" names each one by its path and says what it should be.',
    help: 'Every entry of "issues" has the path of a member in the input and a message about it. The value itself is never repeated, since it could be a secret. Identifiers in the path or the query are checked too.',
    members: ['issues'],
  },
  media_type_unsupported: {
    status: 415,
    error: 'invalid_request',
    title: 'The body is not sent as JSON',
    description:
      'A request body must be sent with "Content-Type: application/json", in UTF-8 and without a Content-Encoding. Set that header.',
    help: 'The Content-Type is missing or another one (curl sends a form unless told otherwise: add -H "Content-Type: application/json"), its charset is not UTF-8, or the body is compressed.',
  },
  body_too_large: {
    status: 413,
    error: 'invalid_request',
    title: 'The body is larger than 16 KiB',
    description:
      'The request body is larger than 16 KiB. Send only the members that the operation takes; split a tRPC batch into smaller ones.',
    help: 'No operation needs more than a few hundred bytes. The limit covers a whole tRPC batch.',
  },
  route_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such route',
    description:
      'There is no such route. Check the path: it is case-sensitive and has no slash at its end. GET /openapi.json lists every route.',
    help: 'Besides a mistyped path: the /admin routes exist only where the service runs with an ADMIN_SECRET, and /metrics only with METRICS=on.',
  },
  method_not_allowed: {
    status: 405,
    error: 'invalid_request',
    title: 'The route does not take this method',
    description:
      'This route exists, but does not take this method. Use one that the Allow header names.',
    help: 'Over tRPC, queries are called with GET and mutations with POST.',
  },
  code_not_found: {
    status: 400,
    error: 'invalid_grant',
    title: 'There is no such code',
    description:
      'This code is not known for this application. Check that it arrived complete and that it was issued to the application whose secret was sent; otherwise let the user start the flow again.',
    help: 'The code was mistyped or cut, cancelled, issued to another application, or never issued. The answer is the same in each case, so that nobody can find out whose code it is. The code, if it exists, was not consumed.',
  },
  code_expired: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code is older than 5 minutes',
    description:
      'This code is older than 5 minutes and can no longer be exchanged. Let the user start the flow again, and exchange the new code at once.',
    help: 'A code is good for 300 seconds from its issue. If fresh codes expire, compare the clocks of the machines that issue and exchange them.',
  },
  code_already_used: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code was exchanged before',
    description:
      'This code was exchanged before by this application, and works only once. If the answer with the grant was lost, recover the grant named by "grant_id" within 10 minutes of the exchange; otherwise use the grant you have stored, or let the user start the flow again.',
    help: 'A retry, a double click or two workers sent the same code twice: exactly one of them got the grant. The replay changed nothing: the grant works as before.',
    members: ['grant_id'],
  },
  grant_not_found: {
    status: 404,
    error: 'invalid_grant',
    title: 'There is no such grant',
    description:
      'This application has no grant with this grant_id. Check that the id is the one from the exchange, and that the application whose secret was sent is the one that made it.',
    help: 'The grant is unknown, belongs to another application, or its code was not exchanged yet (an operator cancels such a code instead). The answer is the same in each case.',
  },
  grant_not_recoverable: {
    status: 409,
    error: 'invalid_grant',
    title: 'The grant can no longer be recovered',
    description:
      'This grant was used already, or was exchanged more than 10 minutes ago, and cannot be recovered. Use the grant_secret you have stored; without one, revoke the grant and let the user link the account again.',
    help: 'Recovery is for an answer that got lost on its way: it ends with the first request that was authenticated with the grant secret, or 10 minutes after the exchange.',
  },
  application_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such application',
    description:
      'There is no application with this id. List the applications to find the right one, or create it first.',
    help: '`latchkey app list` or GET /admin/applications shows every application with its id.',
  },
  account_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such account',
    description: 'There is no account with this id. Put the account first, then try again.',
    help: '`latchkey account put` or PUT /admin/accounts/{account_id} makes an account known to the service.',
  },
  secret_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'The application has no such secret',
    description:
      'This application has no secret with this id; it may have been removed before. Get the application to see the secrets it has.',
    help: 'The id is the one of the secret record (`secrets[].id`), not the secret itself.',
  },
  secret_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'The application has 5 live secrets',
    description:
      'This application has 5 live secrets, the most it can have. Remove one that is no longer used (see last_used_at), then try again.',
    help: 'Expired secrets are listed but do not count.',
  },
  rate_limited: {
    status: 429,
    error: 'temporarily_unavailable',
    title: 'Too many requests',
    description:
      'There were too many requests in a short time, and this one changed nothing. Wait for the number of seconds in Retry-After, then try again.',
    help: 'Either the application made too many requests, or sent too many codes that are unknown or expired, or too many requests with bad credentials came from this address. The RateLimit headers tell the limit, what is left of it, and in how many seconds it starts anew. Good credentials are accepted from any address, and a good code is exchanged however many bad ones were sent.',
    retryAfter: 1,
  },
  store_unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The database does not answer',
    description:
      'The service cannot reach its database right now, and nothing was changed. Wait for the number of seconds in Retry-After, then try again.',
    help: 'No code was consumed and no grant changed. Operators: the log has the reason under the same request id, and GET /readyz tells when the database answers again.',
    retryAfter: 1,
  },
  outcome_unknown: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'It is not known whether the change was made',
    description:
      'The database failed after the change was sent, and the outcome could not be read back. After an exchange, recover the grant named by "grant_id"; if that answers 404, exchange the code again. A revocation can simply be repeated.',
    help: 'The change was either made as a whole or not at all. Repeat the step named in the description until it answers.',
    members: ['grant_id'],
    retryAfter: 1,
  },
  internal_error: {
    status: 500,
    error: 'server_error',
    title: 'The service failed',
    description:
      'The service failed in a way it should not. Try again; if it stays, tell its operator the request_id.',
    help: 'The reason is in the log of the service under the same request id. Please report it.',
  },
} as const satisfies Record<string, ErrorDefinition>;

/** The stable code of an error, `error_code` on the wire. */
export type ErrorCode = keyof typeof errorTable;

/** Every {@link ErrorCode}, in the order of the docs. */
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The row of an error, without the narrow types of the table. */
export function errorDefinition(code: ErrorCode): ErrorDefinition {
  return errorTable[code];
}

/**
 * The standard OAuth word of an error, `error` on the wire. A grant's requests are those to a
 * protected resource, where a bad credential is an `invalid_token` (RFC 6750, section 3.1); an
 * application and the operator are clients.
 *
 * @param caller - who the operation is for; null where no operation was reached
 */
export function errorWord(code: ErrorCode, caller: Caller | null): string {
  const { error } = errorDefinition(code);
  return caller === 'grant' && error === 'invalid_client' ? 'invalid_token' : error;
}
