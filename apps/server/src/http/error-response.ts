import { DomainError } from '@latchkey/domain/domain-error';
import { RateLimited } from '@latchkey/rules/limits/rate-limited';
import { type ErrorBody, errorDefinition, errorWord } from '@latchkey/schema';
import type { Logger } from 'pino';
import type { CallerKind } from '../operations/caller.ts';
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
  if (error.cause !== undefined) {
    const level = error.code === 'internal_error' ? 'error' : 'warn';
    log[level]({ request_id, route, error_code: error.code, err: error.cause }, 'request failed');
  }
  return error;
}

/** OAuth libraries print it, and they send a secret in one of these two ways (RFC 6749, section 2.3.1). */
export const SEND_FORM =
  'Send client_id and client_secret in a form, Content-Type: application/x-www-form-urlencoded, or as Authorization: Basic.';

export function errorBody(
  context: Pick<RequestContext, 'publicUrl' | 'requestId' | 'asksForForm'>,
  error: DomainError,
  caller: CallerKind | null,
): ErrorBody {
  return {
    error: errorWord(error.code, caller === 'grant' ? 'grant' : null),
    error_description:
      context.asksForForm && error.code === 'credentials_missing' ? SEND_FORM : error.message,
    error_code: error.code,
    error_uri: `${context.publicUrl()}/docs/errors#${error.code}`,
    request_id: context.requestId,
    ...error.members,
  };
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
