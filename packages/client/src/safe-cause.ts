import type { Redact } from './redact.ts';

const TEXTS = ['code', 'syscall', 'address', 'hostname'] as const;
const MAX_DEPTH = 5;

/**
 * Copies what a runtime threw, member by member and with credentials blacked out.
 *
 * The original is not kept: HTTP libraries attach the request to their errors, and with it the
 * Authorization header and the body.
 */
export function safeCause(thrown: unknown, redact: Redact, depth = 1): Error {
  if (typeof thrown !== 'object' || thrown === null) return new Error(redact(String(thrown)));
  const { name, message, stack, port, cause, errors } = thrown as Record<string, unknown>;
  // Where several addresses of a host were tried, the error has the first try's in its `errors`.
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  const copy = new Error(
    typeof message === 'string' ? redact(message) : '',
    inner === undefined || depth === MAX_DEPTH
      ? undefined
      : { cause: safeCause(inner, redact, depth + 1) },
  );
  if (typeof name === 'string') {
    Object.defineProperty(copy, 'name', { value: redact(name), configurable: true });
  }
  if (typeof stack === 'string') copy.stack = redact(stack);
  for (const key of TEXTS) {
    const text = (thrown as Record<string, unknown>)[key];
    if (typeof text === 'string') Object.assign(copy, { [key]: redact(text) });
  }
  if (typeof port === 'number') Object.assign(copy, { port });
  return copy;
}
