import { type ErrorBody, errorDefinition, errorWord } from '@latchkey/schema';
import type { Logger } from 'pino';
import { DomainError } from '../domain-error.ts';
import { RateLimited } from '../limits/rate-limited.ts';
import type { CallerKind } from '../operations/caller.ts';
import { challengeFor } from './challenge.ts';
import type { Headers, RequestContext } from './request-context.ts';
import { MethodNotAllowed } from './router.ts';

/**
 * Decides what a failure tells the client. A DomainError tells what the error table says; anything
 * else becomes `internal_error`. The detail goes to the log, under the id of the request.
 */
export function reportFailure(
  log: Logger,
  { requestId: request_id, route }: RequestContext,
  failure: unknown,
): DomainError {
  const error = DomainError.from(failure);
  if (error.cause !== undefined) {
    const level = error.code === 'internal_error' ? 'error' : 'warn';
    log[level]({ request_id, route, error_code: error.code, err: error.cause }, 'request failed');
  }
  return error;
}

/**
 * The body of an error, the same over REST and tRPC.
 *
 * @param caller - the kind of caller the operation takes; null if no operation was reached
 */
export function errorBody(
  context: RequestContext,
  error: DomainError,
  caller: CallerKind | null,
): ErrorBody {
  return {
    error: errorWord(error.code, caller === 'grant' ? 'grant' : null),
    error_description: errorDefinition(error.code).description,
    error_code: error.code,
    error_uri: `${context.publicUrl}/docs/errors#${error.code}`,
    request_id: context.requestId,
    ...error.members,
  };
}

/**
 * The status of an error over REST. A client that sent its credentials in a form gets no challenge,
 * and 401 would need one (RFC 6749, section 5.2).
 */
export function errorStatus({ challenge }: RequestContext, { code }: DomainError): number {
  return code === 'credentials_invalid' && challenge === null ? 400 : errorDefinition(code).status;
}

/** The header fields that belong to an error. */
export function errorHeaders({ challenge }: RequestContext, error: DomainError): Headers {
  const { retryAfter } = errorDefinition(error.code);
  const authenticate = challengeFor(error, challenge);
  return {
    ...(authenticate !== undefined && { 'WWW-Authenticate': authenticate }),
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    ...(error instanceof MethodNotAllowed && { Allow: error.allow }),
    ...(error instanceof RateLimited && rateLimitHeaders(error)),
  };
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers-06, sections 5.1 to 5.3. */
function rateLimitHeaders({ limit, reset }: RateLimited): Headers {
  return {
    'Retry-After': String(reset),
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': String(reset),
  };
}
