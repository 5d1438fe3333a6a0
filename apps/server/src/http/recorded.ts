import type { Exchange } from './exchange.ts';

// What addresses are made of, with room for a zone, a port and `[redacted]`. A proxy may hand on
// anything else, control characters for a terminal among it.
const ADDRESS = /^[A-Za-z0-9.:%_[\]-]{1,64}$/;

/**
 * Tells what may be kept of where a request came from: its caller may have put a credential into
 * either.
 *
 * @param redact - takes credentials out of a text
 */
export function createRecorder(redact: (text: string) => string) {
  return (requestId: string, address: string | undefined): Exchange['recorded'] => {
    const clean = redact(address ?? '');
    return { request_id: redact(requestId), address: ADDRESS.test(clean) ? clean : null };
  };
}
