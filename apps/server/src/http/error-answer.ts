import { type Caller, type ErrorBody, errorDefinition, errorWord } from '@latchkey/schema';
import type { DomainError } from '../domain-error.ts';
import { RateLimited } from '../limits/rate-limited.ts';
import type { Headers } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { MethodNotAllowed } from './method-not-allowed.ts';

/**
 * The body of an error: the same over both wires.
 *
 * @param caller - who the operation is for, null where no operation was reached
 */
export function errorBody(
  exchange: Exchange,
  error: DomainError,
  caller: Caller | null,
): ErrorBody {
  return {
    error: errorWord(error.code, caller),
    error_description: errorDefinition(error.code).description,
    error_code: error.code,
    error_uri: `${exchange.publicUrl}/docs/errors#${error.code}`,
    request_id: exchange.requestId,
    ...error.members,
  };
}

const CHALLENGE = 'Bearer realm="latchkey"';

/** The headers that an error brings along. */
export function errorHeaders(error: DomainError): Headers {
  const { retryAfter } = errorDefinition(error.code);
  return {
    ...(error.code === 'credentials_missing' && { 'WWW-Authenticate': CHALLENGE }),
    ...(error.code === 'credentials_invalid' && {
      'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"`,
    }),
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
