const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The value of an ASCII character as a hexadecimal digit. */
const DIGIT_VALUES = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  DIGIT_VALUES[digit.charCodeAt(0)] = value;
  DIGIT_VALUES[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Whether a text is a UUID (RFC 9562, section 4) of any version, in any case. */
export function isUuid(text: string): boolean {
  return SHAPE.test(text);
}

/** Formats a 16-byte UUID in lower case (RFC 9562, section 4). */
export function uuidFromBytes(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += HEX[bytes[i] as number];
  }
  return text;
}

/**
 * The 16 bytes of a UUID.
 *
 * @param uuid - a UUID in any case; check untrusted text with {@link isUuid} first
 */
export function uuidToBytes(uuid: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(16);
  let at = 0;
  for (let i = 0; i < 16; i++) {
    if (uuid[at] === '-') at++;
    const high = DIGIT_VALUES[uuid.charCodeAt(at++)] as number;
    const low = DIGIT_VALUES[uuid.charCodeAt(at++)] as number;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

/**
 * The timestamp inside a UUIDv7 (RFC 9562, section 5.7).
 *
 * @param uuid - a UUID
 * @returns milliseconds since 1970-01-01T00:00Z, or null if the UUID has another version
 */
export function uuidV7Time(uuid: string): number | null {
  if (uuid[14] !== '7') return null;
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}
