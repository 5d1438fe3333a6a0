import { constants } from 'node:os';
import {
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoWriteConcernError,
} from 'mongodb';
import { DomainError } from '../../domain-error.ts';

/** The answers of a server that did not as much as try to make the change. */
const refusals = new Set([
  2, // BadValue
  9, // FailedToParse
  13, // Unauthorized
  14, // TypeMismatch
  18, // AuthenticationFailed
  59, // CommandNotFound
  66, // ImmutableField
  72, // InvalidOptions
  115, // CommandNotSupported
  121, // DocumentValidationFailure
  11000, // DuplicateKey
]);

/** Whether an error comes from the database or the way to it, and not from a fault of the code. */
export function isDatabaseError(error: unknown): error is Error {
  if (error instanceof MongoError) return !(error instanceof MongoInvalidArgumentError);
  return isSocketError(error);
}

/** A connection that broke just before it was written to: the driver passes on what Node says. */
function isSocketError(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return String(error.code) in constants.errno || error.code === 'ERR_STREAM_DESTROYED';
}

/** Whether this answer to a write says that the write was not made. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof MongoServerError &&
    !(error instanceof MongoWriteConcernError) &&
    refusals.has(Number(error.code))
  );
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** The error of a call that changed nothing. Faults of the code stay what they are. */
export function unavailable(error: unknown): unknown {
  return isDatabaseError(error) ? new DomainError('store_unavailable', {}, error) : error;
}
