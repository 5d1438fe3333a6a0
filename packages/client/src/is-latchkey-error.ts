import type { LatchkeyError } from './errors.ts';

/** On every error of this package, and the same in every copy of it. */
export const BRAND = Symbol.for('@latchkey/client/error');

/**
 * Whether a value is a {@link LatchkeyError}, also one from another copy of this package: a program
 * that loads it both by `import` and by `require` has two, and `instanceof` knows only its own.
 * Where that can happen, branch on `error.name` or `error.errorCode` next.
 *
 * @param value - anything, such as what a `catch` got
 * @returns true for an error of this package, of any copy of it
 *
 * @example
 * ```ts
 * import { isLatchkeyError } from '@latchkey/client';
 *
 * try {
 *   await latchkey.revoke(grantId);
 * } catch (error) {
 *   if (!isLatchkeyError(error)) throw error;
 *   log.warn({ code: error.errorCode, request: error.requestId }, error.message);
 * }
 * ```
 */
export function isLatchkeyError(value: unknown): value is LatchkeyError {
  return typeof value === 'object' && value !== null && BRAND in value;
}
