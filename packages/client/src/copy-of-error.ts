import { LatchkeyError } from './errors.ts';

/** Another error that says the same: two callers don't get one object to change. */
export function copyOfError(error: unknown): unknown {
  if (!(error instanceof LatchkeyError)) return error;
  const { message, cause, stack } = error;
  const Class = error.constructor as typeof LatchkeyError;
  return Object.assign(new Class(message, { ...error, cause }), { stack });
}
