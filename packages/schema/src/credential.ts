import { decodeBase62, encodeBase62 } from './base62.ts';
import { crc32 } from './crc32.ts';
import { uuidFromBytes, uuidToBytes } from './uuid.ts';

/**
 * The kinds of credential and their prefixes. From the prefix, a person or a secret scanner
 * can tell what leaked.
 */
export const credentialPrefixes = {
  applicationSecret: 'lk_app',
  code: 'lk_code',
  grantSecret: 'lk_grant',
  link: 'lk_link',
  pageTicket: 'lk_ticket',
  pageSession: 'lk_page',
} as const;

/** `applicationSecret`, `code`, `grantSecret`, `link`, `pageTicket` or `pageSession`. */
export type CredentialKind = keyof typeof credentialPrefixes;

const ID_BYTES = 16;
/** The random bytes in a credential: 256 bits, so that a plain SHA-256 at rest is enough. */
export const CREDENTIAL_RANDOM_BYTES = 32;
const PAYLOAD_BYTES = ID_BYTES + CREDENTIAL_RANDOM_BYTES;
// The fewest digits that hold 48 and 4 bytes: 384 / log2(62) = 64.5 and 32 / log2(62) = 5.4.
const PAYLOAD_DIGITS = 65;
const CHECKSUM_DIGITS = 6;

/** Matches anything shaped like a Latchkey credential, for redaction and secret scanners. */
export const credentialPattern = /lk_(?:app|code|grant|link|ticket|page)_[0-9A-Za-z]{71}/g;

function checksum(text: string): string {
  const crc = crc32(text);
  return encodeBase62(Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc), CHECKSUM_DIGITS);
}

/**
 * Formats a credential: `<prefix>_<payload><checksum>`, made only of `[A-Za-z0-9_]`.
 *
 * @param kind - the kind of credential, which determines the prefix
 * @param id - the UUID inside: the id of the application, the grant, the link request or the page
 * @param random - {@link CREDENTIAL_RANDOM_BYTES} bytes from a cryptographic random source
 * @throws RangeError if `random` has another length
 */
export function formatCredential(kind: CredentialKind, id: string, random: Uint8Array): string {
  if (random.length !== CREDENTIAL_RANDOM_BYTES) {
    throw new RangeError(`A credential needs exactly ${CREDENTIAL_RANDOM_BYTES} random bytes.`);
  }
  const payload = new Uint8Array(PAYLOAD_BYTES);
  payload.set(uuidToBytes(id));
  payload.set(random, ID_BYTES);
  const text = `${credentialPrefixes[kind]}_${encodeBase62(payload, PAYLOAD_DIGITS)}`;
  return text + checksum(text);
}

/**
 * Returns the id inside a credential, or null if the text is malformed: another prefix or length, a
 * character outside the alphabet, or a wrong checksum. A well-formed credential is not necessarily
 * authentic: only the hash in the store can tell.
 *
 * @param kind - the expected kind of credential
 * @param text - the text that the caller sent
 * @returns a lower-case UUID, or null
 */
export function parseCredential(kind: CredentialKind, text: string): string | null {
  return credentialParts(kind, text)?.id ?? null;
}

/** The id and the random bytes inside a credential, or null like {@link parseCredential}. */
export function credentialParts(
  kind: CredentialKind,
  text: string,
): { id: string; random: Uint8Array } | null {
  const start = credentialPrefixes[kind].length + 1;
  const end = start + PAYLOAD_DIGITS;
  if (text.length !== end + CHECKSUM_DIGITS) return null;
  if (!text.startsWith(`${credentialPrefixes[kind]}_`)) return null;
  if (text.slice(end) !== checksum(text.slice(0, end))) return null;
  const payload = decodeBase62(text.slice(start, end), PAYLOAD_BYTES);
  if (payload === null) return null;
  return {
    id: uuidFromBytes(payload.subarray(0, ID_BYTES)),
    random: payload.subarray(ID_BYTES),
  };
}

/** The part of an application secret that may be shown: its prefix and its last four characters. */
export function credentialHint(credential: string): string {
  return `${credential.slice(0, credential.lastIndexOf('_') + 1)}…${credential.slice(-4)}`;
}
