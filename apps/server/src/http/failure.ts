import type { Logger } from 'pino';
import { DomainError } from '../domain-error.ts';
import type { Exchange } from './exchange.ts';

/** What a failure is on the wire. */
export function toDomainError(failure: unknown): DomainError {
  return failure instanceof DomainError ? failure : new DomainError('internal_error', {}, failure);
}

/**
 * Decides what a failure may say to the outside. A DomainError says what the error table says;
 * anything else is `internal_error`. The detail goes to the log, under the request's id.
 */
export function reportFailure(log: Logger, exchange: Exchange, failure: unknown): DomainError {
  const error = toDomainError(failure);
  exchange.error_code = error.code;
  if (error.cause !== undefined) {
    const level = error.code === 'internal_error' ? 'error' : 'warn';
    const { requestId: request_id, route } = exchange;
    log[level]({ request_id, route, error_code: error.code, err: error.cause }, 'request failed');
  }
  return error;
}
