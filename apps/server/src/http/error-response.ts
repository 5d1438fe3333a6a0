import { DomainError } from '@latchkey/domain/domain-error';
import { RateLimited } from '@latchkey/rules/limits/rate-limited';
import { errorDefinition } from '@latchkey/schema';
import type { Logger } from 'pino';
import { challengeFor } from './challenge.ts';
import type { Headers, RequestContext } from './request-context.ts';
import { MethodNotAllowed } from './router.ts';

/** Anything but a DomainError becomes `internal_error`. Its detail goes only to the log. */
export function reportFailure(
  log: Logger,
  { requestId: request_id, route }: RequestContext,
  failure: unknown,
): DomainError {
  const error = DomainError.from(failure);
  const { code: error_code, cause } = error;
  if (cause !== undefined) {
    const level = error_code === 'internal_error' ? 'error' : 'warn';
    // While the database is away, everybody can have this written: no stack, which would tell of the driver.
    const why = level === 'error' ? { err: cause } : { cause: String(cause) };
    log[level]({ request_id, route, error_code, ...why }, 'request failed');
  }
  return error;
}

/** Credentials in a form get no challenge, and 401 would need one (RFC 6749, section 5.2). */
export function errorStatus({ challenge }: RequestContext, { code }: DomainError): number {
  const { status } = errorDefinition(code);
  // A page in the place of a redirect.
  if (status === 303) return 400;
  return code === 'credentials_invalid' && challenge === null ? 400 : status;
}

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

/** draft-ietf-httpapi-ratelimit-headers-06, sections 5.1 to 5.3. */
function rateLimitHeaders({ limit, reset }: RateLimited): Headers {
  return {
    'Retry-After': String(reset),
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': String(reset),
  };
}
