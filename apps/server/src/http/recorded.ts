import type { Exchange } from './exchange.ts';

// Longer than any address; a proxy may hand on what is none.
const LONGEST_ADDRESS = 64;

/**
 * Tells what may be kept of where a request came from: its caller may have put a credential into
 * either.
 *
 * @param redact - takes credentials out of a text
 */
export function createRecorder(redact: (text: string) => string) {
  return (requestId: string, address: string | undefined): Exchange['recorded'] => ({
    request_id: redact(requestId),
    address: address === undefined ? null : redact(address).slice(0, LONGEST_ADDRESS),
  });
}
