import { ConnectionError } from './errors.ts';
import type { Redact } from './redact.ts';

// Codes that Node reports when no connection was made: unknown host, nobody listening, or an
// untrusted certificate.
const NEVER_CONNECTED = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

interface RuntimeError {
  readonly code?: string;
  readonly syscall?: string;
  readonly cause?: RuntimeError;
}

/** The error for a request if `fetch`, or reading the response, threw. */
export function connectionError(thrown: unknown, origin: string, redact: Redact): ConnectionError {
  const cause = redactedCopy(thrown, redact);
  let code: string | undefined;
  let maybeSent = true;
  for (let error: RuntimeError | undefined = cause as RuntimeError; error; error = error.cause) {
    code = error.code ?? code;
    if (error.syscall === 'connect' || NEVER_CONNECTED.has(error.code ?? '')) maybeSent = false;
  }
  return new ConnectionError(
    `No complete response from ${origin}${code ? ` (${code})` : ''}. Check baseUrl, and that the service is reachable. ${
      maybeSent ? 'The request may have been sent.' : 'The request was not sent.'
    }`,
    { maybe_sent: maybeSent, cause },
  );
}

const TEXT_MEMBERS = ['code', 'syscall', 'address', 'hostname'] as const;
const MAX_DEPTH = 5;

/**
 * Copies what a runtime threw, member by member, with credentials redacted.
 *
 * The original is not kept: HTTP libraries attach the request to their errors, including the
 * Authorization header and the body.
 */
function redactedCopy(thrown: unknown, redact: Redact, depth = 1): Error {
  if (typeof thrown !== 'object' || thrown === null) return new Error(redact(String(thrown)));
  const { name, message, stack, port, cause, errors } = thrown as Record<string, unknown>;
  // If several addresses of a host were tried, the first attempt's error is in `errors`.
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  const copy = new Error(
    typeof message === 'string' ? redact(message) : '',
    inner === undefined || depth === MAX_DEPTH
      ? undefined
      : { cause: redactedCopy(inner, redact, depth + 1) },
  );
  if (typeof name === 'string') {
    Object.defineProperty(copy, 'name', { value: redact(name), configurable: true });
  }
  if (typeof stack === 'string') copy.stack = redact(stack);
  for (const key of TEXT_MEMBERS) {
    const text = (thrown as Record<string, unknown>)[key];
    if (typeof text === 'string') Object.assign(copy, { [key]: redact(text) });
  }
  if (typeof port === 'number') Object.assign(copy, { port });
  return copy;
}
