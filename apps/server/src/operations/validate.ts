import type { z } from 'zod';
import { DomainError } from '../domain-error.ts';

/** What a failed validation says to the caller: where and what, never the value. */
export function parameterInvalid(error: z.ZodError): DomainError {
  const issues = error.issues.map(({ path, message }) => ({
    path: path.map((key) => (typeof key === 'symbol' ? String(key) : key)),
    message,
  }));
  return new DomainError('parameter_invalid', { issues });
}

/**
 * Validates an input.
 *
 * @throws DomainError `parameter_invalid`
 */
export function validate(schema: z.ZodType<object>, input: unknown): object {
  const result = schema.safeParse(input);
  if (!result.success) throw parameterInvalid(result.error);
  return result.data;
}
