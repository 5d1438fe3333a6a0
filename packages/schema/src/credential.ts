import { decodeBase62, encodeBase62 } from './base62.ts';
import { crc32 } from './crc32.ts';
import { uuidFromBytes, uuidToBytes } from './uuid.ts';

/**
 * The three kinds of credential and their prefixes. A prefix tells a person, and a secret scanner,
 * what it is that leaked.
 */
export const credentialPrefixes = {
  applicationSecret: 'lk_app',
  code: 'lk_code',
  grantSecret: 'lk_grant',
} as const;

/** `applicationSecret`, `code` or `grantSecret`. */
export type CredentialKind = keyof typeof credentialPrefixes;

const ID_BYTES = 16;
/** How many random bytes a credential carries: 256 bits, so that a plain SHA-256 at rest is enough. */
export const CREDENTIAL_RANDOM_BYTES = 32;
const PAYLOAD_BYTES = ID_BYTES + CREDENTIAL_RANDOM_BYTES;
// The fewest digits that hold 48 bytes and 4 bytes: 384 and 32 bits over log2(62) = 5.954.
const PAYLOAD_DIGITS = 65;
const CHECKSUM_DIGITS = 6;

/** Everything that has the shape of a Latchkey credential, for redaction and for secret scanners. */
export const credentialPattern = /lk_(?:app|code|grant)_[0-9A-Za-z]{71}/g;

function checksum(text: string): string {
  const crc = crc32(text);
  return encodeBase62(Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc), CHECKSUM_DIGITS);
}

/**
 * Writes a credential: `<prefix>_<payload><checksum>`, characters `[A-Za-z0-9_]` only.
 *
 * @param kind - which credential; decides the prefix
 * @param id - the UUID that travels inside: the application's id, or the grant's
 * @param random - {@link CREDENTIAL_RANDOM_BYTES} bytes from a cryptographic random source
 * @throws RangeError where `random` has another length
 */
export function formatCredential(kind: CredentialKind, id: string, random: Uint8Array): string {
  if (random.length !== CREDENTIAL_RANDOM_BYTES) {
    throw new RangeError(`A credential takes ${CREDENTIAL_RANDOM_BYTES} random bytes.`);
  }
  const payload = new Uint8Array(PAYLOAD_BYTES);
  payload.set(uuidToBytes(id));
  payload.set(random, ID_BYTES);
  const text = `${credentialPrefixes[kind]}_${encodeBase62(payload, PAYLOAD_DIGITS)}`;
  return text + checksum(text);
}

/**
 * Reads the id out of a credential, and refuses what cannot be one: another prefix or length, a
 * character outside the alphabet, a wrong checksum. What passes is well formed, not authentic:
 * only the hash in the store tells that.
 *
 * @param kind - which credential is expected
 * @param text - what the caller sent
 * @returns the id inside, a lower-case UUID, or null
 */
export function parseCredential(kind: CredentialKind, text: string): string | null {
  const start = credentialPrefixes[kind].length + 1;
  const end = start + PAYLOAD_DIGITS;
  if (text.length !== end + CHECKSUM_DIGITS) return null;
  if (!text.startsWith(`${credentialPrefixes[kind]}_`)) return null;
  if (text.slice(end) !== checksum(text.slice(0, end))) return null;
  const payload = decodeBase62(text.slice(start, end), PAYLOAD_BYTES);
  return payload && uuidFromBytes(payload.subarray(0, ID_BYTES));
}

/** What may be shown of an application secret to tell it from another: prefix and last four letters. */
export function credentialHint(credential: string): string {
  return `${credential.slice(0, credential.lastIndexOf('_') + 1)}…${credential.slice(-4)}`;
}
