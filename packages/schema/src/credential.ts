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
  key: 'lk_key',
} as const;

/** `applicationSecret`, `code`, `grantSecret`, `link`, `pageTicket`, `pageSession` or `key`. */
export type CredentialKind = keyof typeof credentialPrefixes;

const ID_BYTES = 16;
/** The random bytes in a credential: 256 bits, so that a plain SHA-256 at rest is enough. */
export const CREDENTIAL_RANDOM_BYTES = 32;
const PAYLOAD_BYTES = ID_BYTES + CREDENTIAL_RANDOM_BYTES;
// The fewest digits that hold 48 and 4 bytes: 384 / log2(62) = 64.5 and 32 / log2(62) = 5.4.
const PAYLOAD_DIGITS = 65;
const CHECKSUM_DIGITS = 6;

/** Matches anything shaped like a Latchkey credential, for redaction and secret scanners. */
export const credentialPattern = /lk_(?:app|code|grant|link|ticket|page|key)_[0-9A-Za-z]{71}/g;

function checksum(text: string): string {
  const crc = crc32(text);
  return encodeBase62(Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc), CHECKSUM_DIGITS);
}

/**
 * Formats a credential: `<prefix>_<payload><checksum>`, made only of `[A-Za-z0-9_]`.
 *
 * @param kind - the kind of credential, which determines the prefix
 * @param id - the UUID inside: the id of the application, the grant, the link request, the page or the
 *   key
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

/** The part of a credential that may be shown: its prefix and its last four characters. */
export function credentialHint(credential: string): string {
  return `${credential.slice(0, credential.lastIndexOf('_') + 1)}…${credential.slice(-4)}`;
}

// Marked, so that a bundle that reads no credential leaves the tables out.
const CRC_TABLE = /* @__PURE__ */ Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/**
 * CRC-32 (IEEE 802.3, as used by zip and PNG) of an ASCII text.
 *
 * @param text - characters U+0000 to U+007F; only the low byte of other characters counts
 * @returns an unsigned 32-bit integer
 */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(i)) & 0xff] as number);
  }
  return ~crc >>> 0;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The value of an ASCII character as a digit; 255 if it is not a digit. */
const VALUES = /* @__PURE__ */ Uint8Array.from({ length: 128 }, (_, code) => {
  const value = DIGITS.indexOf(String.fromCharCode(code));
  return value === -1 ? 255 : value;
});

// Long division and multiplication handle five digits at a time over 16-bit limbs: 62^5 < 2^30, so a
// product or carry with a limb stays below 2^46 and is exact in a double. Remainders are computed by
// subtraction: `%` on numbers above 32 bits is a function call and took two thirds of the time.
const CHUNK_DIGITS = 5;
const CHUNK = 62 ** CHUNK_DIGITS;

/**
 * Writes a big-endian number in base 62 with the digits `0-9A-Za-z`, padded with zeros on the left.
 *
 * @param bytes - the number; an even number of bytes
 * @param length - how many digits to write; must be enough to hold the number
 */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  const limbs = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < limbs.length; i++) {
    limbs[i] = ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number);
  }
  const digits = new Array<number>(length);
  let top = 0;
  for (let end = length; end > 0; ) {
    let rest = 0;
    for (let i = top; i < limbs.length; i++) {
      const value = rest * 0x10000 + (limbs[i] as number);
      const quotient = Math.floor(value / CHUNK);
      limbs[i] = quotient;
      rest = value - quotient * CHUNK;
    }
    while (top < limbs.length && limbs[top] === 0) top++;
    for (let digit = 0; digit < CHUNK_DIGITS && end > 0; digit++) {
      digits[--end] = DIGITS.charCodeAt(rest % 62);
      rest = Math.floor(rest / 62);
    }
  }
  return String.fromCharCode.apply(null, digits);
}

/**
 * Reads a base-62 number.
 *
 * @param text - digits `0-9A-Za-z`, most significant first
 * @param byteLength - the size of the number in bytes; even
 * @returns the number, big-endian; null if a character is not a digit or the number does not fit
 */
export function decodeBase62(text: string, byteLength: number): Uint8Array | null {
  const limbs = new Uint16Array(byteLength / 2);
  // All limbs before this one are still zero and can be skipped.
  let top = limbs.length;
  for (let start = 0; start < text.length; ) {
    // The first chunk takes the odd digits, so that all others are complete.
    const end = start === 0 ? text.length % CHUNK_DIGITS || CHUNK_DIGITS : start + CHUNK_DIGITS;
    let carry = 0;
    for (let i = start; i < end; i++) {
      const value = VALUES[text.charCodeAt(i)] ?? 255;
      if (value === 255) return null;
      carry = carry * 62 + value;
    }
    const factor = end - start === CHUNK_DIGITS ? CHUNK : 62 ** (end - start);
    for (let i = limbs.length - 1; i >= top || carry !== 0; i--) {
      if (i < 0) return null;
      const value = (limbs[i] as number) * factor + carry;
      carry = Math.floor(value / 0x10000);
      limbs[i] = value - carry * 0x10000;
      if (i < top) top = i;
    }
    start = end;
  }
  const bytes = new Uint8Array(byteLength);
  for (let i = 0; i < limbs.length; i++) {
    bytes[2 * i] = (limbs[i] as number) >>> 8;
    bytes[2 * i + 1] = (limbs[i] as number) & 0xff;
  }
  return bytes;
}
