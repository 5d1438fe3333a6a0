import { constants } from 'node:os';
import { DomainError } from '@latchkey/domain/domain-error';
import {
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoWriteConcernError,
} from 'mongodb';

/** Errors after which nothing is changed, with advice. After others, the change may be made. */
const refusals = new Map<number, string>([
  [2, ''], // BadValue
  [9, ''], // FailedToParse
  [13, 'grant the user the rights in docs/operations/mongodb.md'], // Unauthorized
  [14, ''], // TypeMismatch
  [18, 'correct the user or the password'], // AuthenticationFailed
  [20, ''], // IllegalOperation
  [26, ''], // NamespaceNotFound
  [59, ''], // CommandNotFound
  [61, 'shard the collection by the hash of _id'], // ShardKeyNotFound
  [66, ''], // ImmutableField
  [72, ''], // InvalidOptions
  [73, 'choose another name for the database'], // InvalidNamespace
  [115, ''], // CommandNotSupported
  [121, 'remove the validator of the collection'], // DocumentValidationFailure
  [166, 'remove the view that has the name of a collection'], // CommandNotSupportedOnView
  [371, 'free disk space if it is full, then run setUserWriteBlockMode with global: false'], // UserWritesBlocked
  [8000, 'look at the message, and at the limits of the cluster'], // AtlasError
  [11000, ''], // DuplicateKey
  [14031, 'free disk space'], // OutOfDiskSpace
]);

export function isDatabaseError(error: unknown): error is Error {
  if (error instanceof MongoError) return !(error instanceof MongoInvalidArgumentError);
  return isSocketError(error);
}

/** The driver passes on Node's error if a connection breaks just before a write to it. */
function isSocketError(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return String(error.code) in constants.errno || error.code === 'ERR_STREAM_DESTROYED';
}

export function isRefusal(error: unknown): boolean {
  return (
    error instanceof MongoServerError &&
    !(error instanceof MongoWriteConcernError) &&
    refusals.has(Number(error.code))
  );
}

function explained(error: Error): Error {
  const remedy = isRefusal(error) && refusals.get(Number((error as MongoServerError).code));
  if (!remedy) return error;
  const { code, codeName, message } = error as MongoServerError;
  return new Error(`MongoDB refuses the command (${codeName ?? code}: ${message}): ${remedy}`, {
    cause: error,
  });
}

export function isForbidden(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 13;
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** Another upsert inserted the document at the same time. MongoDB does not always retry that. */
export async function againIfDuplicate<T>(upsert: () => Promise<T>): Promise<T> {
  try {
    return await upsert();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return upsert();
  }
}

/** Of an insert that is not ordered: all others are inserted, and durable. */
export function hasOnlyDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError()) return false;
  const errors = [error.writeErrors].flat();
  // The driver wraps the error of a lost connection in one without any.
  return errors.length > 0 && errors.every(({ code }) => code === 11000);
}

export function isRefusedHint(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 2 && error.message.includes('hint');
}

export function unavailable(error: unknown): unknown {
  return isDatabaseError(error)
    ? new DomainError('store_unavailable', {}, explained(error))
    : error;
}
