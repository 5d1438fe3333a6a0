import type { LatchkeyError } from './errors.ts';

/** On every error of this package, and the same in every copy of it. */
export const BRAND = Symbol.for('@latchkey/client/error');

/**
 * Whether a value is a {@link LatchkeyError}, also one from another copy of this package: a program
 * that loads it both by `import` and by `require` has two, and `instanceof` knows only its own.
 * Where that can happen, branch on `error.name` or `error.errorCode` next.
 *
 * @example
 * ```ts
 * if (isLatchkeyError(error)) log.warn({ code: error.errorCode, request: error.requestId });
 * ```
 */
export function isLatchkeyError(value: unknown): value is LatchkeyError {
  return typeof value === 'object' && value !== null && BRAND in value;
}
