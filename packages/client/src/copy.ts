import { LatchkeyError } from './errors.ts';
import { type WithRequestId, withRequestId } from './request-id.ts';

// Of two callers with one answer, each gets an object of its own: what one does to it reaches
// nobody else.

export function copyOfResult<Result extends object>(
  result: WithRequestId<Result>,
): WithRequestId<Result> {
  return withRequestId(structuredClone(result), result.requestId);
}

export function copyOfError(error: unknown): unknown {
  if (!(error instanceof LatchkeyError)) return error;
  const { message, cause, stack } = error;
  const Class = error.constructor as typeof LatchkeyError;
  return Object.assign(new Class(message, { ...error, cause }), { stack });
}
