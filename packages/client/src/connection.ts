import { ConnectionError } from './errors.ts';
import type { Redact } from './redact.ts';
import { safeCause } from './safe-cause.ts';

// What Node says where there never was a connection to send on: no such host, nobody listening,
// or a certificate that is not trusted.
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

/** The error for a request that `fetch`, or reading its answer, threw for. */
export function connectionError(thrown: unknown, origin: string, redact: Redact): ConnectionError {
  const cause = safeCause(thrown, redact);
  let code: string | undefined;
  let maybeSent = true;
  for (let error: RuntimeError | undefined = cause as RuntimeError; error; error = error.cause) {
    code = error.code ?? code;
    if (error.syscall === 'connect' || NEVER_CONNECTED.has(error.code ?? '')) maybeSent = false;
  }
  return new ConnectionError(
    `No complete answer from ${origin}${code ? ` (${code})` : ''}. Check baseUrl, and that the service can be reached. ${
      maybeSent ? 'The request may have been sent.' : 'The request was not sent.'
    }`,
    { maybeSent, cause },
  );
}
